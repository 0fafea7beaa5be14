"""dvm run --live on a pseudo-terminal."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unittest

from dvmtest import DVM, ENV, dvm, million_keys

PATIENCE = 120  # seconds


def set_size(terminal, columns, rows):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


class Terminal:
    """dvm with a terminal as standard output and standard error; shown is all that it has written there."""

    def __init__(self, *args, columns=80, rows=24, prefix=("run", "-x", "aggrate=100ms"), env=None):
        self.master, slave = pty.openpty()
        set_size(slave, columns, rows)
        self.process = subprocess.Popen([DVM, *prefix, "--live", *args], stdin=slave, stdout=slave, stderr=slave, env=env or {**ENV, "TERM": "xterm"},
                                        start_new_session=True)
        os.close(slave)
        self.shown = ""

    def read(self, timeout):
        if select.select([self.master], [], [], timeout)[0]:
            try:
                self.shown += os.read(self.master, 65536).decode(errors="replace")
            except OSError:  # the other end is closed
                return False
        return True

    def wait_for(self, pattern):
        deadline = time.monotonic() + PATIENCE
        while not re.search(pattern, self.shown):
            if time.monotonic() > deadline or not self.read(0.1):
                raise AssertionError(f"{pattern!r} is not in {self.shown!r}")

    def end(self, with_signal=None):
        if with_signal:
            self.process.send_signal(with_signal)
        deadline = time.monotonic() + PATIENCE
        while self.read(0.1) and time.monotonic() < deadline:
            pass
        return self.process.wait(PATIENCE)

    def frames(self):
        return re.findall(r"\033\[\?7l(.*?)\033\[\?7h", self.shown, re.DOTALL)

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.master)


class LiveTest(unittest.TestCase):
    def terminal(self, *args, **how):
        made = Terminal(*args, **how)
        self.addCleanup(made.close)
        return made

    def test_rows_are_redrawn_and_the_end_is_printed(self):
        terminal = self.terminal("-q", "-n", 'tick-10ms { @n["few"] = count(); } tick-10ms { @s["a", 1] = sum(5); @s["b", 2] = sum(7); }')
        terminal.wait_for(r"b  2 +\d+ +[\d.]+")
        self.assertEqual(terminal.end(signal.SIGINT), 0)
        frames = terminal.frames()
        self.assertGreater(len(frames), 1)
        last = frames[-1]
        self.assertIn("@n = count()", last)
        self.assertLess(last.index("b  2"), last.index("a  1"))  # the larger is first
        after = terminal.shown[terminal.shown.rindex("\033[J"):]
        self.assertRegex(after, r"  few +\d+\r\n")
        self.assertRegex(after, r"  a +1 +\d+\r\n  b +2 +\d+\r\n")
        self.assertNotIn("\033[?7l", after)

    def test_what_records_print_waits_for_the_end(self):
        terminal = self.terminal("-n", 'BEGIN { printf("hello"); } tick-10ms { @ = count(); } tick-500ms { exit(3); }')
        self.assertEqual(terminal.end(), 3)
        self.assertGreater(len(terminal.frames()), 0)
        self.assertNotIn("hello", "".join(terminal.frames()))
        self.assertIn("hello", terminal.shown[terminal.shown.rindex("\033[J"):])

    def test_a_narrow_terminal_and_another_size(self):
        terminal = self.terminal("-q", "-n", 'tick-10ms { @["a very long key that is cut", i++ % 100] = count(); }', columns=20, rows=6)
        terminal.wait_for(r"\.\.\. \d+ more")
        for frame in terminal.frames():
            lines = frame.replace("\033[K", "").replace("\r", "").split("\n")[:-1]
            self.assertLessEqual(len(lines), 5)
            self.assertEqual({len(line) for line in lines}, {20}, lines)
        set_size(terminal.master, 100, 12)
        terminal.wait_for(r"a very long key that is cut  \d+ +\d+")
        self.assertEqual(terminal.end(signal.SIGTERM), 0)

    def test_dvm_that_is_killed_leaves_the_terminal_in_order(self):
        terminal = self.terminal("-q", "-n", "tick-10ms { @ = count(); }")
        terminal.wait_for(r"@ = count\(\)")
        terminal.end(signal.SIGKILL)
        self.assertTrue(terminal.shown.rstrip().endswith("\033[?7h"), terminal.shown[-40:])

    def test_many_keys_are_bounded(self):
        script = "tick-1ms { @[i++] = count(); @[i++] = count(); @[i++] = count(); @[i++] = count(); }"
        terminal = self.terminal("-q", "-x", "maxseries=100", "-n", script)
        terminal.wait_for(r"\.\.\. \d{3,} more")
        self.assertEqual(terminal.end(signal.SIGINT), 0)

    def test_a_million_keys_in_a_narrow_terminal(self):
        terminal = self.terminal("-q", "-x", "aggsize=64m", "-n", million_keys(), columns=20, rows=10)
        terminal.wait_for(r"\.\.\. 99999\d more")
        self.assertLess(len(terminal.frames()[-1]), 1000)
        self.assertEqual(terminal.end(signal.SIGINT), 0)

    def test_freopen_goes_on_in_its_file(self):
        path = f"/tmp/dvm-live-{os.getpid()}"
        self.addCleanup(lambda: os.path.exists(path) and os.remove(path))
        terminal = self.terminal("-q", "-w", "-n", 'BEGIN { printf("first\\n"); freopen("%s", $1); printf("second\\n"); } tick-300ms { @ = count(); exit(0); }', f'"{path}"')
        self.assertEqual(terminal.end(), 0)
        self.assertIn("first", terminal.shown)
        with open(path, encoding="ascii") as file:
            self.assertIn("second", file.read())

    def test_what_a_program_writes_stands_above_the_drawing(self):
        program = "sh -c 'echo one; test -t 1 && echo terminal; sleep 1; printf \"\\033[2J\\033[31mtwo\\n\"; sleep 1; echo three'"
        terminal = self.terminal("-q", "-n", "tick-10ms { @ = count(); }", "-c", program)
        self.assertEqual(terminal.end(), 0)
        for line in ("one", "terminal", "two", "three"):
            self.assertEqual(terminal.shown.count(line), 1, terminal.shown)
            self.assertNotIn(line, "".join(terminal.frames()))
        self.assertNotIn("\033[2J", terminal.shown)
        self.assertIn("\033[31mtwo", terminal.shown)
        self.assertLess(terminal.shown.index("two"), terminal.shown.rindex("\033[?7l"))  # while it draws

    def test_what_outlives_dvm_keeps_its_terminal(self):
        script = "tick-300ms { @ = count(); exit(0); }"
        terminal = self.terminal("-q", "-n", script, "-c", "sh -c '(sleep 3; echo late) & echo early; wait'")
        terminal.wait_for("early")
        terminal.wait_for("late")
        self.assertIn("early", terminal.shown)

    def test_a_program_survives_dvm_that_is_killed(self):
        terminal = self.terminal("-q", "-n", "tick-10ms { @ = count(); }", "-c", "sh -c 'echo up; sleep 3; echo alive'")
        terminal.wait_for("up")
        terminal.process.send_signal(signal.SIGKILL)
        terminal.wait_for("alive")

    def test_a_terminal_that_cannot_move_its_cursor_is_refused(self):
        terminal = self.terminal("-n", "BEGIN { exit(0); }", env={**ENV, "TERM": "dumb"})
        self.assertEqual(terminal.end(), 1)
        self.assertIn("--live moves the cursor, which this terminal cannot do (TERM=dumb)", terminal.shown)

    def test_it_needs_a_terminal(self):
        result = dvm("run", "--live", "-n", "BEGIN { exit(0); }")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertEqual(result.stderr, "dvm: --live draws on a terminal, and standard output is not a terminal\n")


if __name__ == "__main__":
    unittest.main()
