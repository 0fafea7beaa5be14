"""Strings anywhere in memory, which threads load while faults of the agent are caught: the program's own signals do as without it."""

import pathlib
import re
import signal
import subprocess
import unittest

import dvmtest
from dvmtest import program
from scenarios.test_agent import AgentTest

ROUNDS = 3
PASSES = {"thread": 5, "small": 3, "alternate": 3}  # of all strings, in the process itself; otherwise 2
TEXTS = {0: "on the heap", 1: "at the end.", 3: "twelve chars", 9: "y" * 255}
STRINGS = 10
WAYS = ["default", "ignore", "handle", "once", "stack", "block", "thread", "small", "alternate", "fork", "spawn"]
HANDLED = ["handle", "once", "stack"]
CHANGES = ["ask", "install", "renew", "reset", "raw"]
ENDS = ["fault", "kill", "queue"]
KEYED = "pid$target:caught:take:entry { @[arg1, copyinstr(arg0)] = count(); } ERROR { @bad = count(); }"
RECORDED = 'pid$target:caught:take:entry { printf("\\n%d %s", arg1, copyinstr(arg0)); } ERROR { @bad = count(); }'
SEVERAL = """pid$target:caught:take:entry /arg1 == 4/ {
  printf("%s %s %s", copyinstr(arg0), copyinstr(arg0 + 0x10000), copyinstr(arg0 + 0x20000)); }
ERROR { @bad = count(); }"""
FAULTS = 1 << signal.SIGSEGV - 1 | 1 << signal.SIGBUS - 1


def handled(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"SigCgt:\t(\w+)", text)[1], 16) & FAULTS


class Caught(AgentTest):
    def start(self, *words):
        target = subprocess.Popen([program("caught"), str(ROUNDS), *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(target.communicate)
        self.addCleanup(target.kill)
        self.assertEqual(target.stdout.readline(), "ready\n")
        return target

    def trace(self, target, script):
        return dvmtest.start_tracer(self, script, "-x", "backend=agent", "-x", "aggsortkey", "-p", str(target.pid))

    def check(self, *words, script=KEYED):
        """The same output and the same end as without dvm, and all strings."""
        way = words[0]
        untraced, target = self.start(*words), self.start(*words)
        wanted = untraced.communicate("\n\n")[0]
        tracer = self.trace(target, script)
        self.assertEqual((target.communicate("\n\n")[0], target.returncode), (wanted, untraced.returncode), words)
        output, errors = tracer.communicate(timeout=120)
        calls = PASSES.get(way, 2) * ROUNDS
        rows = re.findall(r"(?m)^ +(\d+) +(\S.*?) +(\d+)$", output) if script == KEYED else self.counted(output)
        found = {int(number): (text, int(count)) for number, text, count in rows}
        own = found.pop(STRINGS, None)
        self.assertEqual(found, {number: (text, calls) for number, text in TEXTS.items()}, (words, errors))
        self.assertRegex(output, rf"(?m)^ +{calls * (STRINGS - len(TEXTS))}$")
        if way in HANDLED:
            self.assertEqual(own, (TEXTS[0], 2 if words[2] == "fault" else 1))

    def counted(self, output):
        lines = re.findall(r"(?m)^(\d+) (.+)$", output)
        return {(number, text, lines.count((number, text))) for number, text in lines}

    def test_what_a_program_does_with_its_signals(self):
        dvmtest.together(lambda way: self.check(way, "nothing", "return"), WAYS)

    def test_a_program_changes_its_actions(self):
        cases = [*(("default", change) for change in CHANGES), ("handle", "renew"), ("once", "ask")]
        dvmtest.together(lambda case: self.check(*case, "return", script=RECORDED), cases)

    def test_a_handler_changes_the_action_between_two_reads_of_its_thread(self):
        target = self.start("alarm", "nothing", "return")
        tracer = self.trace(target, SEVERAL)
        self.assertEqual(target.communicate("\n\n")[0], "faults: 0\n")
        self.assertEqual(target.returncode, 0, tracer.communicate(timeout=120))

    def test_a_program_ends_by_a_signal(self):
        cases = [*(("default", end) for end in ENDS), ("handle", "fault"), ("once", "kill")]
        dvmtest.together(lambda case: self.check(case[0], "nothing", case[1]), cases)

    def test_the_actions_are_given_back(self):
        for way in ("default", "handle"):
            with self.subTest(way):
                target = self.start(way, "nothing", "return")
                before = handled(target.pid)
                tracer = self.trace(target, KEYED)
                self.assertEqual(handled(target.pid), FAULTS)
                tracer.send_signal(signal.SIGINT)
                tracer.communicate(timeout=120)
                self.assertEqual(handled(target.pid), before)
                self.assertNotIn("dvm-agent", pathlib.Path(f"/proc/{target.pid}/maps").read_text())
                self.assertIn("faults", target.communicate("\n\n")[0])

    def test_a_program_serves_the_page_faults_of_its_loads(self):
        """A thread that loads from the page it is about to serve would wait for ever."""
        script = "pid$target:hostile:take:entry { @[copyinstr(arg0)] = count(); @stacks[ustack(1)] = count(); } ERROR { @bad = count(); } END { trunc(@stacks); }"
        result = dvmtest.dvm("run", "-q", "-x", "backend=agent", "-n", script, "-c", program("hostile") + " serves 50 loads", timeout=30)
        if "no page faults" in result.stdout:
            dvmtest.skip_or_fail(self, "needs userfaultfd(2)")
        self.assertEqual((result.returncode, result.stdout.split()), (0, ["50", "served", "1", "y" * 255, "50", "50"]), result.stderr)

    def test_other_threads_load_as_the_first_one_does(self):
        if "[vvar]" not in pathlib.Path("/proc/self/maps").read_text():
            dvmtest.skip_or_fail(self, "needs memory that only loads can read")
        target = self.start("device", "nothing", "return")
        tracer = self.trace(target, KEYED)
        target.communicate("\n\n")
        output, errors = tracer.communicate(timeout=120)
        self.assertRegex(output, rf"(?m)^ +{STRINGS} +\d+$", errors)

    def test_a_script_that_reads_no_memory_changes_none(self):
        target = self.start("default", "nothing", "return")
        self.trace(target, "pid$target:caught:take:entry { @[arg1, execname] = count(); trace(execname); }")
        self.assertEqual(handled(target.pid), 0)

    def test_the_handler_is_none_of_the_program(self):
        """So probes on instructions that may fault stay."""
        target = self.start("default", "nothing", "return")
        result = dvmtest.dvm("run", "-q", "-Z", "-x", "backend=agent", "-n", "pid$target:libc::entry { @[copyinstr(arg0)] = count(); } tick-200ms { exit(0); }",
                             "-p", str(target.pid))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("were removed", result.stderr)

    def test_dvm_is_killed(self):
        for end in ("fault", "kill"):
            with self.subTest(end):
                target = self.start("default", "nothing", end)
                tracer = self.trace(target, KEYED)
                tracer.kill()
                self.assertTrue(dvmtest.eventually(lambda: "dvm-agent" not in pathlib.Path(f"/proc/{target.pid}/maps").read_text(), patience=100))
                self.assertEqual(handled(target.pid), 0)
                target.communicate("\n\n")
                self.assertEqual(target.returncode, -signal.SIGSEGV)


if __name__ == "__main__":
    unittest.main()
