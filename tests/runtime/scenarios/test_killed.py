"""dvm killed while it attaches, traces and detaches: the traced process keeps its own instructions, all of them."""

import subprocess
import time
import unittest

import dvmtest
from dvmtest import DVM, ENV, SANITIZED, program

TEXT = "pid$target:libc::entry { @[probefunc] = count(); } tick-60ms { exit(0); }"


class Text:
    """The instructions of the C library, in the process and in the file."""

    def __init__(self, pid):
        self.pid = pid
        with open(f"/proc/{pid}/maps") as maps:
            line = next(line.split() for line in maps if "libc.so" in line and " r-xp " in line)
        self.begin, end = (int(address, 16) for address in line[0].split("-"))
        with open(line[5], "rb") as library:
            library.seek(int(line[2], 16))
            self.original = library.read(end - self.begin)

    def changed(self):
        with open(f"/proc/{self.pid}/mem", "rb") as memory:
            memory.seek(self.begin)
            return memory.read(len(self.original)) != self.original


class Killed(dvmtest.PrivilegedTest):
    def test_no_breakpoint_stays_whenever_dvm_is_killed(self):
        target = subprocess.Popen([program("looper"), "1000", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(target.communicate)
        self.assertEqual(target.stdout.readline(), b"ready\n")
        text = Text(target.pid)
        self.assertFalse(text.changed())
        seen = 0
        for step in range(24):
            tracer = subprocess.Popen([DVM, "run", "-q", "-n", TEXT, "-p", str(target.pid)], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL, env=ENV)
            time.sleep((0.03 + 0.016 * step) * (4 if SANITIZED else 1))
            seen += text.changed()
            tracer.kill()
            tracer.wait()
            deadline = time.monotonic() + 5
            while text.changed() and time.monotonic() < deadline:
                time.sleep(0.02)
            self.assertFalse(text.changed(), f"killed in step {step}")
        self.assertGreater(seen, 0, "no probe was ever on")
        self.assertEqual(target.poll(), None)


if __name__ == "__main__":
    unittest.main()
