"""An agent raises the semaphores of markers, and whoever takes its probes off lowers them: dvm, its guard, or `dvm detach`."""

import os
import signal
import subprocess
import unittest

import dvmtest
from dvmtest import DVM, ENV, program
from scenarios.test_agent import PATIENCE, AgentTest, guards_of

TURNS = "counted$target:a.out:{}:turn {{ @ = count(); }}"
BOTH, FIRST, SECOND = TURNS.format(""), TURNS.format("first_turn"), TURNS.format("second_turn")


class SemaphoreTest(AgentTest):
    prefix = ()

    def setUp(self):
        super().setUp()
        self.dvm, self.program = DVM, program("semaphores")
        if not os.path.exists(self.program):
            dvmtest.skip_or_fail(self, "<sys/sdt.h> is not installed (systemtap-sdt-dev)")
        self.prepare()
        self.target = subprocess.Popen([*self.prefix, self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.addCleanup(self.target.communicate)
        self.assertEqual(self.target.stdout.readline(), "ready\n")

    def prepare(self):
        pass

    def ask(self, command="count"):
        self.target.stdin.write(command + "\n")
        return int(self.target.stdout.readline())

    def trace(self, text=BOTH, *options, backend="agent"):
        options = ["-x", f"backend={backend}", *options, "-p", str(self.target.pid)]
        return dvmtest.start_tracer(self, text, *options, command=(*self.prefix, self.dvm))

    def run_dvm(self, *args, **options):
        return subprocess.run([*self.prefix, self.dvm, *args], capture_output=True, text=True, timeout=PATIENCE, env=ENV, **options)

    def end(self, tracer):
        tracer.terminate()
        tracer.wait(timeout=PATIENCE)

    def kill_with_guard(self, tracer):
        for guard in guards_of(self.target.pid):
            os.kill(guard, signal.SIGKILL)
        tracer.kill()
        tracer.wait()

    def detach(self):
        detached = dvmtest.dvm("detach", "-p", str(self.target.pid))
        self.assertEqual((detached.returncode, detached.stderr), (0, ""))


class Semaphores(SemaphoreTest):
    def test_are_up_while_their_probes_are_on(self):
        tracer = self.trace()
        self.assertEqual(self.ask(), 2)
        self.end(tracer)
        self.assertEqual(self.ask(), 0)
        self.assertEqual((tracer.stdout.read().split(), tracer.stderr.read()), (["2"], ""))


if __name__ == "__main__":
    unittest.main()
