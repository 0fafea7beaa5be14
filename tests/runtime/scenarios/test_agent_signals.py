"""Programs that handle signals while an agent attaches: their firings are collected."""

import os
import pathlib
import re
import signal
import subprocess
import unittest

import dvmtest
from dvmtest import program
from scenarios.test_agent import AgentTest, changed, without_paddings

ATTEMPTS = 8  # a handler that comes in between is a matter of luck
CALLED = "pid$target:alarmed:called:entry { %s } tick-300ms { exit(0); }"


class Alarmed(AgentTest):
    def setUp(self):
        super().setUp()
        self.target = subprocess.Popen([program("alarmed"), "3000"])
        self.addCleanup(self.target.wait)
        self.addCleanup(self.target.kill)

    def test_every_attempt_to_attach_collects(self):
        for action in ("@ = count();", "@[arg0 * 0, execname] = count();"):  # in the thread, and by a record
            for attempt in range(ATTEMPTS):
                with self.subTest(action, attempt=attempt):
                    result = self.run_dvm(CALLED % action, "-p", str(self.target.pid))
                    self.assertEqual((result.returncode, result.stderr), (0, ""))
                    self.assertRegex(result.stdout, r"[1-9]\d*\n")
        self.assertIsNone(self.target.poll())


class Watched(AgentTest):
    """The agent has a jump in sigaction(), too."""

    def test_a_probe_whose_jump_would_overlap_that(self):
        command = program("hostile") + " faults 20"
        listing = dvmtest.dvm("list", "-n", "pid$target:libc:sigaction: { }", "-c", command).stdout
        second = re.search(r"sigaction 0\n.* sigaction ([0-9a-f]+)\n", listing)[1]
        result = self.run_dvm(f"pid$target:libc:sigaction:{second} {{ @ = count(); }}", "-c", command)
        self.assertEqual((result.returncode, result.stdout.split()), (0, ["20", "faults", "2"]), result.stderr)


class Leaping(AgentTest):
    """A handler that never returns to the firing which it has interrupted."""

    def test_later_firings_count(self):
        for keys in ("arg0", "arg0, execname"):  # the second by general code more often
            with self.subTest(keys):
                text = "pid$target:leaps:called:entry { @[%s] = count(); }" % keys
                result = self.run_dvm(text, "-c", program("leaps") + " 100")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertRegex(result.stdout, r"(?m)^ +2( +leaps)? +1000$")

    def test_memory_is_unmapped(self):
        target = subprocess.Popen([program("leaps"), "100000000"])
        self.addCleanup(target.wait)
        self.addCleanup(target.kill)
        for _ in range(3):
            self.run_dvm("pid$target:leaps:called:entry { @[arg0] = count(); } tick-100ms { exit(0); }", "-p", str(target.pid))
        maps = pathlib.Path(f"/proc/{target.pid}/maps")
        self.assertTrue(dvmtest.eventually(lambda: "dvm-agent" not in maps.read_text()))

    def test_memory_that_stays_is_empty(self):
        for _ in range(ATTEMPTS):
            target = subprocess.Popen([program("leaps"), "1", "stays"])
            self.addCleanup(target.wait)
            self.addCleanup(target.kill)
            status = pathlib.Path(f"/proc/{target.pid}/status")
            self.assertTrue(dvmtest.eventually(lambda: "SigCgt:\t0000000000002000" in status.read_text()))  # SIGALRM
            tracer = dvmtest.start_tracer(self, "pid$target:leaps:called:entry { @[ustack(9)] = count(); } tick-3s { exit(0); }", "-x", "backend=agent",
                                          "-p", str(target.pid))
            target.send_signal(signal.SIGALRM)
            tracer.communicate(timeout=120)
            lanes = re.search(r"/memfd:dvm-agent-[^\n]*\n(?:\w+: [^\n]*\n)*?Rss: +(\d+) kB", pathlib.Path(f"/proc/{target.pid}/smaps").read_text())
            if lanes:  # it has interrupted code of the agent
                return self.assertLess(int(lanes[1]), 8)
        self.fail("no signal has interrupted code of the agent")


def code_mappings(pid):
    """How many an agent has added."""
    return len(re.findall(r"(?m) r-xp \S+ 00:00 0 *$", pathlib.Path(f"/proc/{pid}/maps").read_text()))


class Storm(AgentTest):
    """A handler that calls the function which it may have interrupted."""

    def test_each_call_counts(self):
        for predicate in ("", "/arg0 >= 0/"):  # true
            with self.subTest(predicate):
                text = "pid$target:storm:called:entry %s { @ = count(); }" % predicate
                result = self.run_dvm(text, "-x", "aggrate=500hz", "-c", program("storm") + " 20000000")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                calls, handled = map(int, re.search(r"(\d+) calls, (\d+) of them", result.stdout).groups())
                self.assertGreater(handled, 0)
                self.assertEqual(int(result.stdout.split()[-1]), calls)


class Unwinding(AgentTest):
    """Handlers that interrupt code of the agent find the callers of it, as the program without an agent does."""

    def test_exceptions_threads_and_backtraces(self):
        count = "{ @[probefunc, probename] = count(); }"
        for mode, probes, said in (("faults 10", "loaded:entry", "caught 5"), ("cancelled 30", "called:entry,pid$target:thrown:called:return", "cleaned 30"),
                                   ("samples 50", "called:entry", "cut 0"), ("samples 50", "called:return", "cut 0")):
            with self.subTest(mode, probes=probes):
                result = self.run_dvm(f"pid$target:thrown:{probes} {count}", "-c", f"{program('thrown')} {mode}")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertRegex(result.stderr, "^dvm: .* because the process now handles faults.*\n$" if mode.startswith("faults") else "^$")
                self.assertIn(said, result.stdout)
                self.assertRegex(result.stdout, r"(entry|return) +\d+")

    def test_probes_of_the_unwinder_fire(self):
        script = "pid$target::_Unwind_Find_FDE:entry,pid$target::_Unwind_Find_FDE:return { @[probename] = count(); }"
        agent, uprobe = (dvmtest.dvm("run", "-qZ", "-x", f"backend={backend}", "-n", script, "-c", program("returns"))
                         for backend in ("agent", "uprobe"))
        self.assertRegex(agent.stdout, r"entry +[1-9]")
        self.assertEqual(agent.stdout, uprobe.stdout)

    def test_an_unwinder_that_is_loaded_late(self):
        for name in ("entry", "return"):
            with self.subTest(name):
                target = subprocess.Popen([program("sampled"), "100"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
                self.addCleanup(target.communicate)
                self.addCleanup(target.kill)
                self.assertEqual(target.stdout.readline(), "ready\n")
                tracer = dvmtest.start_tracer(self, f"pid$target:sampled:called:{name} {{ @ = count(); }}", "-x", "backend=agent", "-p", str(target.pid))
                target.stdin.write("\n")
                self.assertEqual(target.stdout.readline(), "loaded\n")
                unwinder = dvmtest.Text(target.pid, "libgcc_s")
                unwinder.original = without_paddings(unwinder)
                self.assertTrue(dvmtest.eventually(unwinder.changed))
                self.assertEqual(target.communicate("\n", timeout=120)[0], "cut 0\n")
                out, err = tracer.communicate(timeout=120)
                self.assertEqual(err, "")
                self.assertRegex(out, r"\s[1-9]\d+\n")

    CALLED = "pid$target:sampled:called:entry { @[ustack(9)] = count(); }"

    def trace_held(self):
        """A process with a thread that stays in code of an agent whose dvm has ended; None if its handler has not interrupted that code."""
        target = subprocess.Popen([program("sampled"), "100", "held"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.addCleanup(target.communicate)
        self.addCleanup(target.kill)
        self.assertEqual(target.stdout.readline(), "ready\n")
        target.stdin.write("\n")
        self.assertEqual(target.stdout.readline(), "loaded\n")
        tracer = dvmtest.start_tracer(self, self.CALLED, "-x", "backend=agent", "-p", str(target.pid))
        target.send_signal(signal.SIGUSR1)
        tracer.send_signal(signal.SIGINT)
        tracer.communicate(timeout=120)
        return target if code_mappings(target.pid) != 0 else None

    def held(self):
        target = next(filter(None, (self.trace_held() for _ in range(5 * ATTEMPTS))), None)
        self.assertIsNotNone(target, "no signal has interrupted code of the agent")
        return target

    def trace(self, target):
        return dvmtest.start_tracer(self, self.CALLED, "-x", "backend=agent", "-p", str(target.pid))

    def test_lanes_of_an_agent_that_stays(self):
        target = self.held()
        before = added_mappings(target.pid)
        tracer = self.trace(target)
        tracer.send_signal(signal.SIGINT)
        tracer.communicate(timeout=120)
        self.assertEqual(added_mappings(target.pid), before)
        self.assertRegex(target.communicate("\n", timeout=120)[0], "cut \\d+\n")

    def test_frames_beside_an_agent_that_stays(self):
        target = self.held()
        unwinder = dvmtest.Text(target.pid, "libgcc_s")
        before, unwinder.original = without_paddings(unwinder), memory_of(unwinder)
        self.assertNotEqual(unwinder.original[:len(before)], before)
        tracer = self.trace(target)
        self.assertTrue(unwinder.changed())  # the jump leads to the new agent
        tracer.send_signal(signal.SIGINT)
        self.assertEqual((tracer.communicate(timeout=120)[1], unwinder.changed()), ("", False))
        self.trace(target)
        self.assertEqual(target.communicate("\n", timeout=120)[0], "cut 0\n")


def added_mappings(pid):
    """Those of code and of lanes."""
    return re.findall(r"(?m)^(\S+) (?:r-xp \S+ 00:00 0 *$|.*/memfd:dvm-agent)", pathlib.Path(f"/proc/{pid}/maps").read_text())


def memory_of(text):
    with open(f"/proc/{text.pid}/mem", "rb") as memory:
        memory.seek(text.begin)
        return memory.read(len(text.original))


class Stopped(AgentTest):
    """Jumps are taken off a program that a signal has stopped, and it stays so until it is continued."""

    WORK = "pid$target:threads:work:entry "

    def start(self):
        self.target = subprocess.Popen([program("threads"), "4", "100000000000"])
        self.addCleanup(self.target.wait)
        self.addCleanup(self.target.kill)
        maps = pathlib.Path(f"/proc/{self.target.pid}/maps")
        self.assertTrue(dvmtest.eventually(lambda: "threads" in maps.read_text()))  # it is executed
        self.text = dvmtest.Text(self.target.pid, "threads")
        self.text.original = without_paddings(self.text)

    def states(self):
        tasks = pathlib.Path(f"/proc/{self.target.pid}/task").glob("*/stat")
        return {task.read_text().rsplit(") ")[1][0] for task in tasks}

    def check_left(self, tracer):
        err = tracer.communicate(timeout=120)[1]
        self.assertEqual((re.sub(r"dvm: .* drops.*\n", "", err), tracer.returncode), ("", 0))
        self.assertFalse(changed(self.text))
        self.assertTrue(dvmtest.eventually(lambda: self.states() == {"T"}))
        os.kill(self.target.pid, signal.SIGCONT)
        self.assertTrue(dvmtest.eventually(lambda: "T" not in self.states()))
        self.assertIsNone(self.target.poll())

    def trace(self, text, *options):
        self.start()
        tracer = dvmtest.start_tracer(self, self.WORK + text, "-x", "backend=agent", "-x", "switchrate=10hz", *options, "-p",
                                      str(self.target.pid))
        self.assertTrue(dvmtest.eventually(lambda: changed(self.text)))
        return tracer

    def stop(self):
        os.kill(self.target.pid, signal.SIGSTOP)
        self.assertTrue(dvmtest.eventually(lambda: self.states() == {"T"}))

    def test_by_a_user_before_dvm_is_interrupted(self):
        tracer = self.trace("{ @ = count(); }")
        self.stop()
        tracer.send_signal(signal.SIGINT)
        self.check_left(tracer)

    def test_by_a_user_before_dvm_ends(self):
        """dvm ends once nothing fires any more."""
        tracer = self.trace("{ @ = count(); n++; } BEGIN { last = 0; } tick-1s /n && n == last/ { exit(0); } tick-1s { last = n; }")
        self.stop()
        self.check_left(tracer)

    def test_by_a_clause(self):
        tracer = self.trace("/!n++/ { stop(); }", "-w")
        self.assertTrue(dvmtest.eventually(lambda: self.states() == {"T"}))
        tracer.send_signal(signal.SIGINT)
        self.check_left(tracer)

    def test_by_a_user_before_dvm_is_killed(self):
        tracer = self.trace("{ @ = count(); }")
        self.stop()
        tracer.kill()
        self.assertTrue(dvmtest.eventually(lambda: not changed(self.text)))
        self.assertTrue(dvmtest.eventually(lambda: self.states() == {"T"}))


if __name__ == "__main__":
    unittest.main()
