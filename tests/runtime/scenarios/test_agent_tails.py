"""Returns of functions that leave by jumps to others, which return for them."""

import os
import signal
import subprocess
import unittest

import dvmtest
from dvmtest import DVM, program
from scenarios.test_agent import AgentTest, changed, guards_of

COUNT = 400
FUNCTIONS = ["by_jump", "by_branch", "outer", "recurs", "throws_by_jump", "leaps_by_jump"]
RETURNS = ", ".join(f"pid$target:a.out:{name}:return" for name in FUNCTIONS)
ENTRIES = ", ".join(f"pid$target:a.out:{name}:entry" for name in FUNCTIONS)


def sums(count):
    """How often each function returns, and the sum of what it returns, as tests/programs/tails.cpp calls them."""
    numbers = range(count)
    made = {
        "by_jump": [4 * 2 * count, 4 * sum(2 * n + 5 for n in numbers)],  # called, and jumped to by outer
        "by_branch": [4 * count, 4 * sum(n % 2 + 1 if n % 2 else -1 for n in numbers)],
        "outer": [4 * count, 4 * sum(n + 3 for n in numbers)],
        "recurs": [4 * sum(n % 8 + 1 for n in numbers), 4 * sum(sum(range(n % 8 + 1)) for n in numbers)],
        "throws_by_jump": [count // 2, sum(n + 1 for n in numbers if n % 2)],
        "leaps_by_jump": [count // 2, sum(n + 1 for n in numbers if n % 2)],
    }
    return sorted([name, str(times), str(total)] for name, (times, total) in made.items())


class Tails(AgentTest):
    def trace(self, script, *words, options=()):
        command = [program("tails"), str(COUNT), *words]
        expected = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        result = dvmtest.dvm("run", "-qv", "-x", "backend=agent", *options, "-n", script, "-c", " ".join(command))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(expected, result.stdout, result.stderr)
        self.assertNotIn("not agent:", result.stderr)
        self.assertNotIn("drops", result.stderr)
        return result

    def rows(self, result):
        return sorted(line.split() for line in result.stdout.splitlines() if line.strip() and line.split()[0] in FUNCTIONS)

    def test_each_return_is_seen_with_its_value(self):
        for clause in ("{ @n[probefunc] = count(); @s[probefunc] = sum(arg1); }",  # in the thread
                       "{ n[probefunc]++; @n[probefunc] = count(); @s[probefunc] = sum(arg1); }"):  # in dvm
            with self.subTest(clause):
                result = self.trace(f'{RETURNS} {clause} END {{ printa("%s %@d %@d\\n", @n, @s); }}')
                self.assertEqual(self.rows(result), sums(COUNT))

    def test_what_lies_between_entry_and_return_is_of_one_call(self):
        script = f"""{ENTRIES} {{ self->depth++; self->last = arg0; }}
                     pid$target:a.out:by_branch:return {{ @b[self->last, arg1] = count(); }}
                     {RETURNS} {{ self->depth--; @low[probefunc] = min(self->depth); }}"""
        result = self.trace(script)
        self.assertIn(["0", "-1", str(2 * COUNT)], [line.split() for line in result.stdout.splitlines()])
        self.assertIn(["1", "2", str(2 * COUNT)], [line.split() for line in result.stdout.splitlines()])

    def test_functions_return_in_the_order_of_their_calls(self):
        order = "pid$target:a.out:by_jump:return, pid$target:a.out:outer:return { self->n++; @[probefunc, self->n, self->in] = count(); }"
        result = self.trace("pid$target:a.out:outer:entry { self->in = 1; self->n = 0; } pid$target:a.out:by_jump:entry /!self->in/ { self->n = 0; }"
                            + order + " pid$target:a.out:outer:return { self->in = 0; }")
        rows = [line.split() for line in result.stdout.splitlines()]
        for row in (["by_jump", "1", "0"], ["by_jump", "1", "1"], ["outer", "2", "1"]):
            self.assertIn([*row, str(4 * COUNT)], rows)

    def test_the_offset_is_that_of_the_jump(self):
        result = self.trace("pid$target:a.out:by_jump:return, pid$target:a.out:by_branch:return { @[probefunc, arg0, arg1 == -1] = count(); }")
        rows = [line.split() for line in result.stdout.splitlines()]
        for row in (["by_jump", "5", "0", str(8 * COUNT)], ["by_branch", "8", "0", str(2 * COUNT)], ["by_branch", "21", "1", str(2 * COUNT)]):
            self.assertIn(row, rows)

    def test_a_jump_to_another_file_is_a_return_without_a_value(self):
        script = """pid$target:a.out:elsewhere:entry { self->n = arg0 + 1; }
                    pid$target:a.out:elsewhere:return /self->n/ { @[probefunc, self->n, arg0] = count(); self->n = 0; }"""
        rows = [line.split() for line in self.trace(script).stdout.splitlines()]
        for row in (["elsewhere", "1", "22"], ["elsewhere", "2", "10"]):
            self.assertIn([*row, str(2 * COUNT)], rows)
        valued = dvmtest.dvm("run", "-q", "-x", "backend=agent", "-n", "pid$target:a.out:elsewhere:return { @ = sum(arg1); }", "-c",
                             program("tails") + " 4")
        self.assertNotEqual(valued.returncode, 0)
        self.assertIn("it leaves by a jump to", valued.stderr)

    def test_functions_that_are_jumped_to_return_as_well(self):
        names = {"shared": 4 * COUNT * 3 + 4 * COUNT // 2 + 2 * COUNT, "by_jump": 8 * COUNT}
        result = self.trace("pid$target:a.out:shared:return, pid$target:a.out:by_jump:return { @[probefunc] = count(); }")
        for name, count in names.items():
            self.assertIn([name, str(count)], [line.split() for line in result.stdout.splitlines()])

    def test_signal_handlers_do_no_harm(self):
        command = [program("tails"), str(10 * COUNT)]
        expected = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        result = dvmtest.dvm("run", "-q", "-x", "backend=agent", "-n", f"{ENTRIES}, {RETURNS}, pid$target:a.out:shared:return {{ @[probefunc, probename] = count(); }}",
                             "-c", " ".join(command) + " signals")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(expected, result.stdout)

    def test_results_are_those_of_uretprobes(self):
        if os.geteuid() != 0:
            dvmtest.skip_or_fail(self, "needs root, for uprobes")
        script = "pid$target:a.out:by_jump:return, pid$target:a.out:by_branch:return, pid$target:a.out:outer:return { @[probefunc, arg1] = count(); }"
        both = [dvmtest.dvm("run", "-q", "-x", backend, *more, "-x", "aggsortkey", "-n", script, "-c", program("tails") + " 40")
                for backend, more in (("backend=agent", ()), ("backend=uprobe", ("-x", "return=uretprobe")))]
        self.assertEqual(both[0].stdout, both[1].stdout)

    def test_what_uprobes_leave_out_names_the_agent(self):
        if os.geteuid() != 0:
            dvmtest.skip_or_fail(self, "needs root, for uprobes")
        script = "pid$target:a.out:by_branch:return { @ = count(); }"
        said = [dvmtest.dvm("run", "-q", "-n", more + script, "-c", program("tails") + " 40").stderr for more in ("", "pid$target:a.out:outer:entry, ")]
        self.assertRegex(said[0], r"^dvm: could not enable tracing: 1 probe left out, .*; -x backend=agent may place up to 1 of them\n$")
        self.assertRegex(said[1], r"dvm: 1 probe left out, .*\ndvm: -x backend=agent may place up to 1 of them\n$")
        chosen = dvmtest.dvm("run", "-q", "-x", "backend=uprobe", "-n", script, "-c", program("tails") + " 40").stderr
        by_agent = dvmtest.dvm("run", "-q", "-x", "backend=agent", "-n", script, "-c", program("tails") + " 40")
        self.assertEqual((by_agent.returncode, by_agent.stderr), (0, ""))
        self.assertRegex(chosen, r"^dvm: could not enable tracing: 1 probe left out, ")
        self.assertNotIn("backend=agent", chosen)
        never_returns = dvmtest.dvm("run", "-q", "-n", "pid$target:a.out:_start:return { @ = count(); }", "-c", program("tails") + " 40").stderr
        self.assertIn("1 probe left out, ", never_returns)
        self.assertNotIn("backend=agent", never_returns)

    def test_the_locks_of_the_library_are_seen(self):
        functions = ["pthread_mutex_lock", "pthread_mutex_unlock"]
        script = ", ".join(f"pid$target:libc:{function}:{name}" for function in functions for name in ("entry", "return"))
        result = dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-n", script + " { @[probefunc, probename] = count(); }", "-c", program("locks") + " 3000")
        self.assertIn("12000\n", result.stdout, result.stderr)
        self.assertNotIn("drops", result.stderr)
        counts = {(words[0], words[1]): int(words[2]) for words in (line.split() for line in result.stdout.splitlines()) if len(words) == 3 and words[2].isdigit()}
        for function in functions:
            self.assertGreaterEqual(counts[function, "entry"], 12000)
            self.assertEqual(counts[function, "entry"], counts[function, "return"])

    def test_code_is_as_before(self):
        target = subprocess.Popen([program("looper"), "1000", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(target.communicate)
        self.assertEqual(target.stdout.readline(), b"ready\n")
        text = dvmtest.Text(target.pid, "libc.so.6")
        for _ in range(2):
            result = dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-n", "pid$target:libc:pthread_*:return { @ = count(); } BEGIN { exit(0); }", "-p", str(target.pid))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertFalse(changed(text))

    SCRIPT = 'BEGIN { printf("live\\n"); } pid$target:libc:pthread_*:return, pid$target:looper:func:entry { @ = count(); }'

    def abandon(self, pid):
        """Jumps and relays of a dvm that was killed with its guard."""
        tracer = subprocess.Popen([DVM, "run", "-q", "-x", "backend=agent", "-n", self.SCRIPT, "-p", str(pid)], stdout=subprocess.PIPE, env=dvmtest.ENV)
        self.addCleanup(tracer.communicate)
        self.assertEqual(tracer.stdout.readline(), b"live\n")
        for process in [*guards_of(pid), tracer.pid]:
            os.kill(process, signal.SIGKILL)
        tracer.wait()

    def test_relays_of_killed_ones_are_taken_off(self):
        for arguments in (["detach"], ["run", "-q", "-x", "backend=agent", "-n", self.SCRIPT + " tick-1s { exit(0); }"]):
            with self.subTest(arguments[0]):
                target = subprocess.Popen([program("looper"), "1000", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                self.addCleanup(target.communicate)
                self.assertEqual(target.stdout.readline(), b"ready\n")
                text = dvmtest.Text(target.pid, "libc.so.6")
                self.abandon(target.pid)
                self.assertTrue(changed(text))
                result = dvmtest.dvm(*arguments, "-p", str(target.pid))
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertFalse(changed(text))
                target.communicate(b"\n", timeout=30)
                self.assertEqual(target.returncode, 0)


class BesideUprobes(dvmtest.PrivilegedTest):
    """A uprobe of another dvm lies in a function, or in the one that it jumps to."""

    def counts_beside(self, probe):
        target = subprocess.Popen([program("leaves"), "10"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(target.communicate)
        self.assertEqual(target.stdout.readline(), b"ready\n")
        other = dvmtest.start_tracer(self, probe + " { @ = count(); }", "-x", "backend=uprobe", "-p", str(target.pid))
        tracer = dvmtest.start_tracer(self, "pid$target:leaves:recurs:entry, pid$target:leaves:recurs:return { @[probename] = count(); }",
                                      "-x", "backend=agent", "-p", str(target.pid))
        self.assertEqual(target.communicate(b"\n", timeout=60)[0], b"70\n")
        other.communicate(timeout=60)
        out, err = tracer.communicate(timeout=60)
        self.assertEqual(err, "")
        return sorted(line.split() for line in out.splitlines() if line.split())

    def test_each_return_is_seen_once(self):
        for function in ("recurs", "rest_of_recurs"):
            for name in ("entry", "return"):
                with self.subTest(f"{function}:{name}"):
                    self.assertEqual(self.counts_beside(f"pid$target:leaves:{function}:{name}"), [["entry", "80"], ["return", "80"]])


if __name__ == "__main__":
    unittest.main()
