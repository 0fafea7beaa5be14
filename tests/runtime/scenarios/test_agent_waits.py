"""Threads that wait in system calls while an agent or breakpoints are attached and detached: no call ends because of it."""

import ctypes
import os
import random
import signal
import subprocess
import time
import unittest

import dvmtest
from dvmtest import DVM, ENV, program
from scenarios.test_agent import AgentTest

TIMES = 6
# Those that the kernel ends with EINTR for a stop without a signal. dvm makes them again, unless it is killed before.
ENDED_BY_A_STOP = {"epoll_wait", "epoll_wait-for", "recv-for", "accept-for", "sigtimedwait", "semop", "semtimedop", "io_getevents"}


class Waits(AgentTest):
    CALLS = "syscall::read:entry /pid == $target/ { @ = count(); } tick-20ms { exit(0); }"
    SCRIPT = "pid$target:waits:begins:entry { @ = count(); } tick-20ms { exit(0); }"

    def setUp(self):
        super().setUp()
        self.start()

    def start(self, *call):
        self.target = subprocess.Popen([program("waits"), *call], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.addCleanup(self.target.communicate)
        self.assertEqual(self.target.stdout.readline(), "ready\n")

    def ended(self):
        """Calls and errors, and how often."""
        self.target.stdin.write("\n")
        rows = []
        while (line := self.target.stdout.readline()) != "over\n":
            self.assertNotEqual(line, "", "the program has ended")
            rows.append(line.split())
        return rows

    def test_none_ends(self):
        for _ in range(TIMES):
            result = self.run_dvm(self.SCRIPT, "-v", "-p", str(self.target.pid))
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("(agent, in the traced thread)", result.stderr)
        self.assertEqual(self.ended(), [])

    def test_none_ends_by_breakpoints(self):
        for script in (self.SCRIPT, self.CALLS):
            for _ in range(TIMES):
                result = dvmtest.dvm("run", "-q", "-v", "-x", "backend=breakpoint", "-n", script, "-p", str(self.target.pid))
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertIn("(breakpoint)", result.stderr)
        self.assertEqual(self.ended(), [])

    def test_none_ends_by_ignored_signals(self):
        """A signal that a process ignores does not reach it, but it does reach a thread that is traced by ptrace."""
        libc = ctypes.CDLL(None)
        tracer = dvmtest.start_tracer(self, "pid$target:waits:begins:entry { @ = count(); }", "-x", "backend=breakpoint", "-p", str(self.target.pid))
        for thread in os.listdir(f"/proc/{self.target.pid}/task"):
            for _ in range(TIMES):
                libc.tgkill(self.target.pid, int(thread), signal.SIGWINCH)
        tracer.send_signal(signal.SIGINT)
        tracer.communicate()
        self.assertEqual(self.ended(), [])

    def test_none_ends_by_signals_that_it_blocks(self):
        """The thread itself does not block them. It is the one that makes the agent's system calls."""
        libc = ctypes.CDLL(None)
        for call in ("sigsuspend", "ppoll", "pselect", "epoll_pwait"):
            with self.subTest(call):
                self.start(call)
                tracer = subprocess.Popen([DVM, "run", "-q", "-x", "backend=agent", "-n", self.SCRIPT, "-p", str(self.target.pid)], env=ENV)
                while tracer.poll() is None:
                    libc.tgkill(self.target.pid, self.target.pid, signal.SIGUSR1)
                    time.sleep(0.001)
                self.assertEqual(tracer.returncode, 0)
                self.assertEqual(self.ended(), [])
                libc.tgkill(self.target.pid, self.target.pid, signal.SIGUSR2)
                self.assertTrue(dvmtest.eventually(lambda: self.ended() == [[call, "EINTR", "1"]]))

    def test_of_a_killed_tracer(self):
        chance = random.Random(3)
        for _ in range(2 * TIMES):
            tracer = subprocess.Popen([DVM, "run", "-q", "-x", "backend=agent", "-n", self.SCRIPT, "-p", str(self.target.pid)], env=ENV,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(chance.uniform(0, 0.4))
            tracer.kill()
            tracer.wait()
        for name, error, _ in self.ended():
            self.assertEqual((name in ENDED_BY_A_STOP, error), (True, "EINTR"), name)


if __name__ == "__main__":
    unittest.main()
