"""dvm killed while it attaches, traces and detaches: the traced process keeps its own instructions, all of them."""

import subprocess
import time
import unittest

import dvmtest
from dvmtest import DVM, ENV, SANITIZED, Text, program

TEXT = "pid$target:libc::entry { @[probefunc] = count(); } tick-60ms { exit(0); }"


# The kernel takes breakpoints away after their owner has ended, one by one: a single look that finds none may have come too early.
def comes_to_rest(text):
    unchanged, deadline = 0, time.monotonic() + 30
    while unchanged < 5 and time.monotonic() < deadline:
        unchanged = 0 if text.changed() else unchanged + 1
        time.sleep(0.02)
    return unchanged == 5


class Killed(dvmtest.PrivilegedTest):
    def test_no_breakpoint_stays_whenever_dvm_is_killed(self):
        target = subprocess.Popen([program("looper"), "1000", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(target.communicate)
        self.assertEqual(target.stdout.readline(), b"ready\n")
        text = Text(target.pid, "libc.so")
        self.assertFalse(text.changed())
        seen = step = 0
        while step < 24 or (seen == 0 and step < 40):  # the last ones for a machine that is very busy
            tracer = subprocess.Popen([DVM, "run", "-q", "-n", TEXT, "-p", str(target.pid)], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL, env=ENV)
            time.sleep((0.03 + 0.016 * min(step, 24)) * 1.2 ** max(0, step - 23) * (4 if SANITIZED else 1))
            seen += text.changed()
            tracer.kill()
            tracer.wait()
            self.assertTrue(comes_to_rest(text), f"killed in step {step}")
            step += 1
        self.assertGreater(seen, 0, "no probe was ever on")
        self.assertEqual(target.poll(), None)


if __name__ == "__main__":
    unittest.main()
