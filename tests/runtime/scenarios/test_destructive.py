"""stop(): the process stops, can be continued, and outlives dvm, however that ends; raise() that ends the process."""

import os
import signal
import subprocess
import time
import unittest

import dvmtest
from dvmtest import DVM, ENV, PrivilegedTest, dvm, program


def state(pid):
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0]


class Destructive(PrivilegedTest):
    def start(self):
        """A process that calls func() once its input has a line."""
        process = subprocess.Popen([program("looper"), "100000000", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def trace(self, process, text):
        tracer = subprocess.Popen([DVM, "run", "-q", "-w", "-p", str(process.pid), "-n", text], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, env=ENV)
        self.addCleanup(tracer.stderr.close)
        self.addCleanup(tracer.stdout.close)
        self.addCleanup(tracer.wait)
        self.addCleanup(tracer.kill)
        self.assertEqual(tracer.stdout.readline(), "begun\n")
        process.stdin.write("\n")
        process.stdin.close()
        return tracer

    def wait_for(self, what):
        for _ in range(600):
            if what():
                return
            time.sleep(0.05)
        self.fail("it did not happen within 30 seconds")

    # switchrate: so that BEGIN's line comes at once
    BEGIN = "#pragma D option switchrate=10ms\n#pragma D option bufsize=64k\nBEGIN { printf(\"begun\\n\"); }\n"

    def test_a_stopped_process_outlives_a_killed_dvm_and_goes_on(self):
        process = self.start()
        tracer = self.trace(process, self.BEGIN + "pid$target:looper:func:entry { stop(); }")
        self.wait_for(lambda: state(process.pid) == "T")
        tracer.send_signal(signal.SIGKILL)
        tracer.wait()
        self.wait_for(lambda: state(process.pid) == "T")  # it runs for a moment where its code is put right
        os.kill(process.pid, signal.SIGCONT)
        self.wait_for(lambda: state(process.pid) in "RS")

    def test_a_signal_that_ends_the_process_ends_the_tracing(self):
        result = dvm("run", "-q", "-w", "-n", "pid$target:looper:func:entry { raise(SIGTERM); } END { printf(\"end\\n\"); }",
                     "-c", program("looper") + " 1000000000")
        self.assertEqual((result.returncode, result.stdout), (0, "end\n\n"), result.stderr)

    def test_chill_says_whom_it_delays(self):
        result = dvm("run", "-q", "-w", "-n", "pid$target:looper:main:entry { chill(1); }", "-c", program("looper") + " 1")
        self.assertIn("chill() delays dvm", result.stderr)
        self.assertNotIn("chill()", dvm("run", "-q", "-w", "-n", "BEGIN { chill(1); exit(0); }").stderr)

    def test_without_w_nothing_is_stopped(self):
        for clause in ("stop();", "raise(9);", "chill(1);", "copyout(alloca(1), 0, 0);", "this->x = (copyoutstr(\"\", 0, 0), 1);"):
            result = dvm("run", "-n", f"BEGIN {{ {clause} exit(0); }}")
            self.assertEqual(result.returncode, 1, clause)
            self.assertIn("could not enable tracing: Destructive actions not allowed", result.stderr)
            self.assertEqual(dvm("run", "-x", "destructive", "-q", "-n", f"BEGIN {{ exit(4); }} END {{ {clause} }}").returncode, 4)

    def test_a_replay_touches_no_process(self):
        recording = dvmtest.HERE / "recorded/looper.dvm"
        result = dvm("replay", str(recording), "-q", "-w", "-n", "pid*:::entry { raise(9); } ERROR { exit(arg4); }")
        self.assertEqual(result.returncode, 3, result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
