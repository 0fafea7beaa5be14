"""Programs that recover from faults of probed instructions: their handlers see the original addresses."""

import os
import shutil
import signal
import subprocess
import unittest

import dvmtest
from dvmtest import DVM, ENV, program
from scenarios.test_agent import AgentTest
from scenarios.test_agent_semaphores import AS_NOBODY

PATIENCE = 60  # seconds: a loaded machine is slow, not wrong
WAYS = {"fetch": "fetch", "barrier": "store", "divide": "divide", "leap": "leap"}  # and the function that faults
RIGHT = "right 1000, faults 1000\n"
REASON = "an instruction in its first five bytes may fault, and the process handles such faults"


class FaultTest(AgentTest):
    prefix = ()

    def setUp(self):
        super().setUp()
        self.dvm, self.program = DVM, program("faulting")

    def start(self, *arguments):
        target = subprocess.Popen([*self.prefix, self.program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.addCleanup(target.communicate)
        self.addCleanup(target.kill)
        self.assertEqual(target.stdout.readline(), "ready\n")
        return target

    def trace(self, target, text, *options):
        text = 'BEGIN { printf("live\\n"); } ' + text
        tracer = subprocess.Popen([*self.prefix, self.dvm, "run", "-v", "-x", "backend=agent", *options, "-n", text, "-p", str(target.pid)], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, env=ENV)
        self.addCleanup(tracer.communicate)
        self.addCleanup(tracer.kill)
        while (line := tracer.stdout.readline()) and "live" not in line:
            pass
        self.assertIn("live", line)
        return tracer

    def finish(self, target, tracer):
        """Ends the program, which must be unharmed. Returns the output of dvm."""
        out, _ = target.communicate("\n", timeout=PATIENCE)
        self.assertEqual((out, target.returncode), (RIGHT, 0))
        return tracer.communicate(timeout=PATIENCE)


class Recovering(FaultTest):
    def test_a_handler_that_is_there(self):
        for way, function in WAYS.items():
            with self.subTest(way):
                target = self.start(way, "first", "waits")
                out, err = self.finish(target, self.trace(target, "pid$target:faulting:%s:entry { @ = count(); }" % function))
                self.assertIn(REASON, err)
                self.assertNotIn("(agent", err)
                if not dvmtest.missing_privilege():
                    self.assertRegex(out, r"\s[12]000\n")  # the kernel fires again at an instruction that is made again

    def test_a_handler_that_comes_later(self):
        for way, function in WAYS.items():
            for how in ("late", "syscall", "own"):
                with self.subTest(way, how=how):
                    target = self.start(way, how)
                    tracer = self.trace(target, "pid$target:faulting:%s:entry, pid$target:faulting:once:entry { @[probefunc] = count(); }" % function)
                    out, err = self.finish(target, tracer)
                    self.assertIn(f"process {target.pid}: 1 probe was removed, such as {function}, because the process now handles faults", err)
                    self.assertRegex(out, r"once +1000\n")
                    if how != "own" and not dvmtest.missing_privilege():  # uprobes have it before the thread goes on
                        self.assertRegex(out, function + r" +[12]000\n")

    def test_data_of_the_program_that_is_protected_later(self):
        for how in (("protect", "first", "waits"), ("protect", "late"), ("guard", "first", "waits"), ("key", "first", "waits")):
            with self.subTest(how):
                target = self.start(*how)
                tracer = self.trace(target, "pid$target:faulting:protect:entry { @ = count(); }")
                out, err = self.finish(target, tracer)
                self.assertIn("(agent, in the traced thread)", err)
                self.assertIn("because the process now handles faults or protects data of its files", err)
                if not dvmtest.missing_privilege():
                    self.assertRegex(out, r"\s[12]000\n")

    def test_a_signal_that_no_instruction_raises(self):
        """The probes stay."""
        for way, function in (("divide", "fetch"), ("fetch", "divide")):
            with self.subTest(way):
                target = self.start(way, "late")
                _, err = self.finish(target, self.trace(target, "pid$target:faulting:%s:entry { @ = count(); }" % function))
                self.assertIn("(agent, in the traced thread)", err)
                self.assertNotIn("removed, such as", err)

    def test_variables_of_threads_are_where_the_other_probe_has_gone(self):
        target = self.start("fetch", "late")
        text = "pid$target:faulting:once:entry { self->n++; } pid$target:faulting:fetch:entry /self->n/ { @ = count(); }"
        out, err = self.finish(target, self.trace(target, text))
        if not dvmtest.missing_privilege():
            self.assertRegex(out, r"\s1000\n", err)

    def test_children_that_are_followed(self):
        target = self.start("fetch", "late")
        tracer = self.trace(target, "pid$target:faulting:fetch:entry { @ = count(); }", "-x", "followfork")
        _, err = self.finish(target, tracer)
        self.assertIn("an instruction in its first five bytes may fault, and with -x followfork dvm does not see", err)

    def test_dvm_is_killed_before_the_handler_comes(self):
        target = self.start("fetch", "late")
        tracer = self.trace(target, "pid$target:faulting:fetch:entry { @ = count(); }")
        tracer.send_signal(signal.SIGKILL)
        self.finish(target, tracer)


@unittest.skipIf(os.geteuid() != 0, "it becomes another user")
class BesideBreakpoints(FaultTest):
    """Without BPF, breakpoints take over: dvm traces the threads by ptrace from then on."""

    prefix = AS_NOBODY

    def setUp(self):
        super().setUp()
        folder = dvmtest.own_folder(self)
        folder.chmod(0o755)
        self.dvm, self.program = dvmtest.copy_of_dvm(folder), shutil.copy(self.program, folder)

    def test_a_second_handler(self):
        target = self.start("divide", "second")
        tracer = self.trace(target, "pid$target:faulting:fetch:entry, pid$target:faulting:divide:entry { @[probefunc] = count(); }")
        out, err = self.finish(target, tracer)
        self.assertRegex(out, r"divide +1000\n")
        self.assertNotIn("keeps its probes", err)


if __name__ == "__main__":
    unittest.main()
