"""Programs that do what a tracer may break give the same results traced and untraced, however dvm comes and goes."""

import os
import pathlib
import random
import subprocess
import time
import unittest

import dvmtest
from dvmtest import DVM, ENV, Text, program

LIBRARY = str(pathlib.Path(program("torture")).parent / "liblate_library.so")
CYCLES = int(os.environ.get("DVM_HARM_CYCLES", "20"))  # ./bootstrap torture has 1000
PATIENCE = 30  # seconds: a loaded machine is slow, not wrong

SCRIPTS = [
    "pid$target:torture::entry { @[probefunc] = count(); }",
    "pid$target:torture:fibonacci:entry, pid$target:torture:fibonacci:return, pid$target:torture:sort_strings:return { @ = count(); }",
    "pid$target:torture:descend:entry { @[ustack(5)] = count(); } pid$target:torture:descend:return { @r = sum(arg1); }",
    "pid$target:libc::entry { @[tid] = count(); }",
    "pid$target::late_function:entry, pid$target::on_signal:entry { @[probefunc, arg0] = count(); }",
    "libstdcxx$target:::throw, libstdcxx$target:::catch { @[probename, ustack(3)] = count(); }",
    "pid$target:torture:throw_from:entry, pid$target:torture:jump_from:entry { @[probefunc, execname] = count(); }",
]


class Torture:
    def __init__(self):
        self.process = subprocess.Popen([program("torture"), LIBRARY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "ready\n"
        self.pid = self.process.pid

    def finish(self):
        out, _ = self.process.communicate("\n", timeout=4 * PATIENCE)
        return out


class Harm(dvmtest.PrivilegedTest):
    def untraced(self):
        result = Torture().finish()
        self.assertEqual(len(result.split()), 2, result)
        return result

    def cycle(self, text, pid, after):
        """dvm on the process; after so many seconds it is killed, with None it ends by itself."""
        if after is None:
            text += " tick-50ms { exit(0); }"
        tracer = subprocess.Popen([DVM, "run", "-q", "-Z", "-n", text, "-p", str(pid)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=ENV)
        if after is not None:
            time.sleep(after)
            tracer.kill()
        _, err = tracer.communicate(timeout=4 * PATIENCE)
        if after is None:
            self.assertEqual(tracer.returncode, 0, err)

    def test_results_are_the_same_and_no_breakpoint_stays(self):
        expected = self.untraced()
        chance = random.Random(5)
        torture = Torture()
        self.addCleanup(torture.process.wait)
        self.addCleanup(torture.process.kill)
        texts = [Text(torture.pid, part) for part in ("torture", "libc.so", "libstdc++.so", "ld-linux")]
        for step in range(CYCLES):
            self.cycle(SCRIPTS[step % len(SCRIPTS)], torture.pid, chance.uniform(0, 0.5) if step % 2 else None)
            self.assertIsNone(torture.process.poll(), f"the program ended in step {step}")
        for text in texts:
            self.assertTrue(dvmtest.eventually(lambda text=text: not text.changed()), text.path)
        self.assertEqual(torture.finish(), expected)
        self.assertEqual(torture.process.returncode, 0)


class Semaphores(dvmtest.PrivilegedTest):
    def setUp(self):
        super().setUp()
        if not os.path.exists(program("markers_O0")):
            dvmtest.skip_or_fail(self, "<sys/sdt.h> is not installed (systemtap-sdt-dev)")
        self.target = subprocess.Popen([program("markers_O0"), "1", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.addCleanup(self.target.communicate)
        self.assertEqual(self.target.stdout.readline(), "ready\n")
        self.target.stdin.write("\n")
        self.assertEqual(self.target.stdout.readline(), "semaphores at most 0\n")

    def count(self):
        self.target.stdin.write("\n")
        return int(self.target.stdout.readline().split()[1])

    def trace(self, text="dvmtest$target:::round-begin, dvmtest$target:::widths { @ = count(); }"):
        return subprocess.Popen([DVM, "run", "-q", "-n", text, "-p", str(self.target.pid)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENV)

    def test_are_up_while_their_probes_are_on(self):
        tracer = self.trace()
        self.assertTrue(dvmtest.eventually(lambda: self.count() == 3))  # two places of the one, one of the other
        tracer.terminate()
        tracer.wait(timeout=PATIENCE)
        self.assertEqual(self.count(), 0)

    def test_stay_up_for_who_still_traces(self):
        text = 'BEGIN { printf("live\\n"); } dvmtest$target:::widths { @ = count(); }'
        second = subprocess.Popen([DVM, "run", "-q", "-xswitchrate=10hz", "-n", text, "-p", str(self.target.pid)], stdout=subprocess.PIPE, env=ENV)
        self.addCleanup(second.communicate)
        self.assertEqual(second.stdout.readline(), b"live\n")
        self.assertEqual(self.count(), 1)
        first = self.trace()
        self.assertTrue(dvmtest.eventually(lambda: self.count() == 3))  # the kernel counts a place once
        first.terminate()
        first.wait(timeout=PATIENCE)
        self.assertEqual(self.count(), 1)
        second.terminate()
        second.wait(timeout=PATIENCE)
        self.assertEqual(self.count(), 0)

    def test_are_down_again_when_dvm_is_killed(self):
        tracer = self.trace()
        self.assertTrue(dvmtest.eventually(lambda: self.count() == 3))
        tracer.kill()
        tracer.wait()
        self.assertTrue(dvmtest.eventually(lambda: self.count() == 0))

    def test_are_down_again_whenever_dvm_is_killed(self):
        chance = random.Random(7)
        for step in range(CYCLES):
            tracer = self.trace()
            time.sleep(chance.uniform(0, 0.25))
            tracer.kill()
            tracer.wait()
            self.assertTrue(dvmtest.eventually(lambda: self.count() == 0), f"step {step}")


if __name__ == "__main__":
    unittest.main()
