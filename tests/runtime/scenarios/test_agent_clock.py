"""Times that clauses read in the traced thread are those of the kernel's clock within a microsecond, at each firing: while other
programs keep all CPUs busy, and threads move between CPUs. "./bootstrap torture" runs the long form."""

import os
import pathlib
import random
import subprocess
import sys
import time
import unittest

import dvmtest
from dvmtest import program
from scenarios.test_agent import AgentTest

SECONDS = 300 if os.environ.get("DVM_TORTURE") == "long" else 5
NEAR = 1000  # ns
THREADS = 3


class Clock(AgentTest):
    # clocked() is called with the time before the call, and returns the time before it returns.
    SCRIPT = """pid$target:clocked:clocked:entry { self->t = timestamp; @early = min((int64_t)(timestamp - arg0)); }
                pid$target:clocked:clocked:return /self->t/ { @late = min((int64_t)(arg1 - self->t)); @after = min((int64_t)(timestamp - arg1)); @n = count(); }
                tick-%ds { exit(0); }
                END { printa("early %%@d\\n", @early); printa("late %%@d\\n", @late); printa("after %%@d\\n", @after); printa("n %%@d\\n", @n); }"""

    def setUp(self):
        super().setUp()
        ways = dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-n", self.SCRIPT % 1, "-c", program("clocked") + " 1").stderr
        self.assertEqual(ways.count("(agent, in the traced thread)"), 2, ways)

    def start(self, *words):
        process = subprocess.Popen(words)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def move_threads(self, target, tracer):
        """Moves each thread from CPU to CPU until the tracer ends."""
        cpus = sorted(os.sched_getaffinity(0))
        while tracer.poll() is None:
            for task in pathlib.Path(f"/proc/{target.pid}/task").iterdir():
                os.sched_setaffinity(int(task.name), {random.choice(cpus)})
            time.sleep(0.01)

    def test_no_firing_is_off_by_more(self):
        for _ in os.sched_getaffinity(0):
            self.start(sys.executable, "-c", "while True: pass")
        target = self.start(program("clocked"), str(10**15), str(THREADS))
        tracer = dvmtest.start_tracer(self, self.SCRIPT % SECONDS, "-x", "backend=agent", "-p", str(target.pid))
        self.move_threads(target, tracer)
        out, err = tracer.communicate(timeout=60)
        self.assertEqual((err, tracer.returncode), ("", 0))
        found = dict(line.split() for line in out.splitlines() if line)
        for name in ("early", "late", "after"):
            self.assertGreaterEqual(int(found[name]), -NEAR, f"{name}: {found}")
        self.assertGreater(int(found["n"]), 1000 * SECONDS)
        self.assertIsNone(target.poll())


if __name__ == "__main__":
    unittest.main()
