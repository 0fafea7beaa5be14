"""Every way in which tracing ends: END fires, what was recorded is printed, and the exit status says what happened."""

import fcntl
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest

import dvmtest
from dvmtest import DVM, ENV, dvm, program

SCRIPT = 'BEGIN { printf("begun\\n"); @ = sum(7); } END { printf("end\\n"); }'
ALL = "begun\nend\n\n                7\n"


def start(*args, **kwargs):
    return subprocess.Popen([DVM, "run", "-q", "-x", "switchrate=10ms", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, env=ENV, **kwargs)


def wait_until_full(pipe):
    """Until a tracer that prints rows of 8 KiB cannot write another one. Nobody reads the pipe meanwhile."""
    capacity, deadline = fcntl.fcntl(pipe, fcntl.F_GETPIPE_SZ), time.monotonic() + 60
    while int.from_bytes(fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)), sys.byteorder) <= capacity - 8192:
        if time.monotonic() > deadline:
            raise TimeoutError("the pipe is not full")
        time.sleep(0.01)


class Endings(unittest.TestCase):
    def check_signal(self, number):
        tracer = start("-n", SCRIPT)
        begun = tracer.stdout.readline()
        tracer.send_signal(number)
        rest, errors = tracer.communicate(timeout=30)
        self.assertEqual(begun + rest, ALL.replace("begun\n", "begun\n\n"))  # a newline behind the terminal's ^C
        self.assertEqual(errors, "")
        self.assertEqual(tracer.returncode, 0)

    def test_interrupt(self):
        self.check_signal(signal.SIGINT)

    def test_terminate(self):
        self.check_signal(signal.SIGTERM)

    def test_hangup(self):
        self.check_signal(signal.SIGHUP)

    def test_exit_status(self):
        result = dvm("run", "-q", "-n", SCRIPT + " tick-1ms { exit(3); }")
        self.assertEqual(result.returncode, 3)
        self.assertEqual(result.stdout.strip(), ALL.strip())

    def test_buffer_filled(self):
        result = dvm("run", "-q", "-x", "bufpolicy=fill", "-x", "bufsize=1k", "-n", SCRIPT + " tick-1ms { trace(1); }")
        self.assertEqual(result.returncode, 0)
        self.assertIn("end\n", result.stdout)

    def test_strict_drops(self):
        lossy = ["-x", "bufsize=16", "-n", "BEGIN { } BEGIN { } tick-1ms { exit(0); }"]  # a record takes 16 bytes
        self.assertEqual(dvm("run", "-q", *lossy).returncode, 0)
        strict = dvm("run", "-q", "--strict-drops", *lossy)
        self.assertEqual(strict.returncode, 1)
        self.assertIn("there were drops", strict.stderr)
        self.assertEqual(dvm("run", "-q", "--strict-drops", "-n", "BEGIN { exit(0); }").returncode, 0)

    def test_drops_are_summed_up(self):
        """A last line adds up drops that were reported one by one."""
        result = dvm("run", "-q", "-x", "bufsize=16", "-x", "statusrate=1ms", "-n", "tick-2ms { } tick-2ms { } tick-100ms { exit(0); }")
        lines = result.stderr.splitlines()
        dropped = [int(line.split()[1]) for line in lines if " on CPU " in line]
        self.assertGreater(len(dropped), 1, result.stderr)
        self.assertEqual(lines[-1], f"dvm: in all {sum(dropped)} drops")

    def test_nobody_reads(self):
        """END's effects are seen although its output cannot be."""
        with tempfile.TemporaryDirectory() as folder:
            mark = pathlib.Path(folder) / "mark"
            tracer = start("-w", "-n", f'tick-1ms {{ printf("line\\n"); }} END {{ system("touch %s", "{mark}"); }}')
            tracer.stdout.readline()
            tracer.stdout.close()
            errors = tracer.stderr.read()
            tracer.stderr.close()
            self.assertEqual(tracer.wait(timeout=30), 1)
            self.assertIn("could not write the output: Broken pipe", errors)
            self.assertTrue(mark.exists())

    def test_file_size_limit(self):
        """The kernel signals a write behind the limit, too."""
        with tempfile.TemporaryDirectory() as folder:
            mark = pathlib.Path(folder) / "mark"
            tracer = start("-w", "-o", folder + "/out", "-n", f'tick-1ms {{ printf("%100d\\n", 1); }} END {{ system("mkdir %s", "{mark}"); }}',
                           preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))
            errors = tracer.communicate(timeout=30)[1]
            self.assertEqual(tracer.returncode, 1)
            self.assertIn("could not write the output: File too large", errors)
            self.assertTrue(mark.exists())

    def test_interrupt_while_the_reader_is_slow(self):
        """A signal loses no output that waits to be written."""
        tracer = start("-n", 'BEGIN { i = 0; } tick-1ms { printf("%8191d\\n", i++); } END { printf("end %d\\n", i); }', bufsize=0)
        wait_until_full(tracer.stdout)
        tracer.send_signal(signal.SIGINT)
        output, errors = tracer.communicate(timeout=30)
        self.assertEqual((errors, tracer.returncode), ("", 0))
        lines = output.split()
        self.assertEqual(lines[-2], "end")
        self.assertEqual([int(n) for n in lines[:-2]], list(range(int(lines[-1]))))

    def test_second_interrupt(self):
        """With nobody reading, the first one waits for the output and the second ends dvm."""
        tracer = start("-n", 'tick-1ms { printf("%8191d\\n", 1); }')
        wait_until_full(tracer.stdout)
        tracer.send_signal(signal.SIGINT)
        time.sleep(0.4)
        self.assertIsNone(tracer.poll())
        while tracer.poll() is None:
            tracer.send_signal(signal.SIGINT)
            time.sleep(0.1)
        self.assertEqual(tracer.returncode, -signal.SIGINT)
        tracer.communicate()

    def test_echoed_interrupt(self):
        """Signals right behind the first are taken for the same: timeout(1) sends each twice."""
        for _ in range(5):
            tracer = start("-w", "-n", SCRIPT + ' END { system("sleep 0.2"); }')
            begun, sent, took = tracer.stdout.readline(), time.monotonic(), 0
            while took < 0.05:
                tracer.send_signal(signal.SIGTERM)
                took = time.monotonic() - sent
            rest, errors = tracer.communicate(timeout=30)
            if took < 0.1:  # else this test did not run for so long that the last one was a second signal
                self.assertEqual((begun + rest, errors, tracer.returncode), (ALL.replace("begun\n", "begun\n\n"), "", 0))
                return
        self.fail("the machine is too slow to send signals at once")


class EndingsOfProcesses(dvmtest.PrivilegedTest):
    def test_process_ends(self):
        result = dvm("run", "-q", "-n", SCRIPT + " pid$target:looper:func:entry { n++; } END { printf(\"%d\\n\", n); }", "-c",
                     program("looper") + " 20")
        self.assertEqual(result.returncode, 0)
        self.assertIn("begun\nend\n20\n", result.stdout)

    def test_threads_of_the_program_wait(self):
        """dvm kills the program, and with it all threads that it still traces."""
        why_not = dvmtest.privilege_missing_for("breakpoints")
        for backend in ("uprobe", "agent") if why_not else ("uprobe", "agent", "breakpoint"):
            with self.subTest(backend):
                tracer = start("-x", "backend=" + backend, "-n", SCRIPT + " pid$target:waits:begins:entry { } tick-300ms { exit(0); }",
                               "-c", program("waits"), stdin=subprocess.PIPE)
                self.addCleanup(tracer.communicate)
                self.addCleanup(tracer.kill)
                self.assertEqual(tracer.wait(timeout=60), 0)

    def test_process_is_killed(self):
        target = subprocess.Popen([program("looper"), "5", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(target.communicate)
        target.stdout.readline()
        tracer = start("-n", SCRIPT + " pid$target:looper:func:entry { n++; }", "-p", str(target.pid))
        self.assertEqual(tracer.stdout.readline(), "begun\n")
        os.kill(target.pid, signal.SIGKILL)
        rest, errors = tracer.communicate(timeout=30)
        self.assertEqual(tracer.returncode, 0, errors)
        self.assertIn("end\n", rest)


if __name__ == "__main__":
    unittest.main()
