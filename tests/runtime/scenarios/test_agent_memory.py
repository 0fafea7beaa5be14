"""An agent leaves no memory in a process, whatever ends its tracer, and however busy the process is."""

import os
import pathlib
import re
import resource
import signal
import subprocess
import time
import unittest

import dvmtest
from dvmtest import Text, program
from scenarios.test_agent import LIBRARY, PATIENCE, AgentTest, guards_of

CYCLES = int(os.environ.get("DVM_MEMORY_CYCLES", "4"))
BUSY = ("pid$target:torture:fibonacci:entry { self->t = timestamp; @[probefunc] = count(); }"
        "pid$target:torture:fibonacci:return /self->t/ { @r = quantize(timestamp - self->t); self->t = 0; }")


class MemoryLeft(AgentTest):
    def setUp(self):
        super().setUp()
        self.target = subprocess.Popen([program("torture"), LIBRARY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.target.communicate)
        self.addCleanup(self.target.kill)
        self.assertEqual(self.target.stdout.readline(), "ready\n")
        self.texts = [Text(self.target.pid, part) for part in ("torture", "libc.so", "libstdc++.so")]

    def mappings(self):
        """What agents have mapped: lanes, and code, which no file of this program has."""
        maps = pathlib.Path(f"/proc/{self.target.pid}/maps").read_text()
        return re.findall(r"(?m)^.* (?:r-xp 00000000 00:00 0 *|.*/memfd:dvm-agent-.*)$", maps)

    def assert_nothing_is_left(self, attempt=lambda: None):
        """On a busy machine a thread may stay in the code for long; a later attempt then unmaps it."""
        self.assertTrue(dvmtest.eventually(lambda: attempt() or not self.mappings()), self.mappings())
        for text in self.texts:
            self.assertFalse(text.changed(), text.path)
        results, _ = self.target.communicate("\n", timeout=4 * PATIENCE)
        self.assertEqual(len(results.split()), 2, results)  # all rounds had one result
        self.assertIn("done", results)

    def detach(self):
        detached = dvmtest.dvm("detach", "-p", str(self.target.pid))
        self.assertEqual((detached.returncode, detached.stderr), (0, ""))

    def start_tracer(self):
        tracer = dvmtest.start_tracer(self, BUSY, "-x", "backend=agent", "-p", str(self.target.pid))
        self.assertTrue(self.mappings())
        return tracer

    def test_by_runs_that_end(self):
        for _ in range(CYCLES):
            result = self.run_dvm(BUSY + " tick-50ms { exit(0); }", "-p", str(self.target.pid))
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertLess(len(self.mappings()), 4)  # of one run, if a thread was in its code
        self.assert_nothing_is_left(self.detach)

    def test_by_one_that_is_killed(self):
        self.start_tracer().kill()
        self.assertTrue(dvmtest.eventually(lambda: not guards_of(self.target.pid)))
        self.assert_nothing_is_left(self.detach)

    def test_by_one_that_is_killed_with_its_guard(self):
        tracer = self.start_tracer()
        self.assertTrue(dvmtest.eventually(lambda: guards_of(self.target.pid)))
        for guard in guards_of(self.target.pid):
            os.kill(guard, signal.SIGKILL)
        tracer.kill()
        tracer.wait()
        self.assertTrue(self.mappings())
        self.assert_nothing_is_left(self.detach)


class KilledEarly(AgentTest):
    """dvm is killed after it has mapped memory, and before its guard is there or has anything to do."""

    def test_nothing_is_left(self):
        target = subprocess.Popen([program("looper"), "10", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(target.communicate)
        self.assertEqual(target.stdout.readline(), b"ready\n")
        maps, text = pathlib.Path(f"/proc/{target.pid}/maps"), Text(target.pid, "libc.so")
        before = maps.read_text()
        for pause in (0, 0.001, 0.004, 0.02):
            tracer = subprocess.Popen([dvmtest.DVM, "run", "-q", "-x", "backend=agent", "-n", "pid$target:looper:func:entry { @ = count(); }", "-p", str(target.pid)],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=dvmtest.ENV)
            while maps.read_text() == before and tracer.poll() is None:
                pass
            time.sleep(pause)
            for victim in guards_of(target.pid) + [tracer.pid]:
                os.kill(victim, signal.SIGKILL)
            tracer.wait()
            self.assertTrue(dvmtest.eventually(lambda: dvmtest.dvm("detach", "-p", str(target.pid)).returncode == 0 and maps.read_text() == before))
            self.assertTrue(dvmtest.eventually(lambda: not text.changed()))
        self.assertEqual(target.poll(), None)


class Refused(AgentTest):
    """An attach that fails half-way because a thread waits for its child by vfork. Nothing that dvm has mapped is left."""

    FUNC = "pid$target:hostile:take:entry { @ = count(); }"
    CHILD_LIVES = 3000  # ms
    ATTEMPTS = 10  # the thread may be late on a busy machine

    def mappings(self):
        """Without those that grow, and that of uprobes."""
        lines = pathlib.Path(f"/proc/{self.target.pid}/maps").read_text().splitlines()
        return [line for line in lines if not re.search(r"\[(heap|stack|uprobes.*)\]", line)]

    def has_child(self):
        return any(task.read_text() for task in pathlib.Path(f"/proc/{self.target.pid}/task").glob("*/children"))

    def start(self, *when):
        """The target, and a tracer that has begun to map memory there."""
        self.target = subprocess.Popen([program("hostile"), "vforks", str(self.CHILD_LIVES), *when], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.target.communicate)
        self.addCleanup(self.target.kill)
        self.assertEqual(self.target.stdout.readline(), "ready\n")
        self.before = self.mappings()
        command = [dvmtest.DVM, "run", "-q", "-x", "backend=agent", "-n", self.FUNC, "-p", str(self.target.pid)]
        self.tracer = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dvmtest.ENV)
        self.addCleanup(self.tracer.communicate)
        self.addCleanup(self.tracer.kill)
        self.assertTrue(dvmtest.eventually(lambda: self.mappings() != self.before))

    def is_clean(self):
        return self.mappings() == self.before

    def is_clean_beside_child(self):
        return dvmtest.eventually(lambda: self.is_clean() or not self.has_child()) and self.has_child()

    def fails(self, *when):
        """Whether the attach has failed while the thread waits, and nothing is left. Once it has its child, the next attach succeeds."""
        self.start(*when)
        is_clean = self.is_clean_beside_child()
        self.assertTrue(dvmtest.eventually(lambda: not self.has_child()))
        return dvmtest.eventually(lambda: not self.is_clean()) and is_clean

    def finish(self):
        self.assertEqual(self.target.communicate("\n", timeout=PATIENCE)[0], "done\n")

    def test_because_a_thread_does_not_stop_at_its_wait(self):
        self.assertTrue(any(self.fails("call") for _ in range(self.ATTEMPTS)))
        self.finish()

    def test_because_a_thread_does_not_stop_later(self):
        self.assertTrue(any(self.fails() for _ in range(self.ATTEMPTS)))
        self.finish()

    def test_and_dvm_is_killed(self):
        for pause in (0.1, 0.28, 0.29, 0.3, 0.31):  # dvm waits for 0.3 s
            with self.subTest(pause=pause):
                self.start("call")
                time.sleep(pause)
                self.tracer.kill()
                self.assertTrue(dvmtest.eventually(lambda: not self.has_child()))
                detach = lambda: dvmtest.dvm("detach", "-p", str(self.target.pid)).returncode == 0 and self.is_clean()
                self.assertTrue(dvmtest.eventually(detach), self.mappings())
                self.finish()


class Limited(AgentTest):
    FUNC = "pid$target:unmapper:func:entry { @ = count(); }"

    def start(self, mebibytes):
        target = subprocess.Popen([program("unmapper"), "lines"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20)))
        self.addCleanup(target.communicate)
        self.addCleanup(target.kill)
        self.assertEqual(target.stdout.readline(), "ready\n")
        return target

    def ask(self, target):
        target.stdin.write("\n")
        target.stdin.flush()
        self.assertEqual(target.stdout.readline(), "calls 1000\n")

    def test_an_agent_leaves_the_address_space_to_the_program(self):
        target = self.start(4000)
        self.ask(target)
        tracer = dvmtest.start_tracer(self, self.FUNC, "-x", "backend=agent", "-p", str(target.pid))
        rings = pathlib.Path(f"/proc/{target.pid}/smaps").read_text().split("/memfd:dvm-agent-")[1].split()
        self.assertLess(int(rings[rings.index("Size:") + 1]) // 1024, 4000 // 16)
        tracer.send_signal(signal.SIGINT)
        self.assertEqual(tracer.communicate(timeout=PATIENCE)[1], "")
        self.ask(target)

    def test_an_agent_that_would_take_most_of_it_is_refused(self):
        target = self.start(20)
        self.ask(target)
        before = pathlib.Path(f"/proc/{target.pid}/maps").read_text()
        result = dvmtest.dvm("run", "-v", "-x", "backend=agent", "-n", self.FUNC + " tick-50ms { exit(0); }", "-p", str(target.pid))
        self.assertRegex(result.stderr, r"its address space is limited \(ulimit -v\): the agent would take 7 MiB, more than a quarter of the 1\d MiB left")
        self.assertEqual(pathlib.Path(f"/proc/{target.pid}/maps").read_text(), before)
        self.ask(target)


class Sanitized(AgentTest):
    """The thread sanitizer ends a program that has memory where it expects none."""

    SOURCE = """#include <stdio.h>
    __attribute__((noinline)) void called(void) { __asm__ volatile("nop; nop; nop; nop; nop"); }
    int main(void) { for (int i = 0; i < 1000; i++) called(); puts("done"); return 0; }"""

    def test_by_threads(self):
        folder = dvmtest.own_folder(self)
        built = subprocess.run([os.environ.get("DVM_CC", "cc"), "-fsanitize=thread", "-x", "c", "-", "-o", "sanitized"], input=self.SOURCE, text=True, cwd=folder, stderr=subprocess.DEVNULL)
        if built.returncode != 0 or subprocess.run([folder / "sanitized"], capture_output=True).stdout != b"done\n":
            self.skipTest("no program runs here with a thread sanitizer")
        result = self.run_dvm("pid$target:sanitized:called:entry { @ = count(); }", "-c", str(folder / "sanitized"))
        self.assertEqual((result.returncode, sorted(result.stdout.split()), result.stderr), (0, ["1000", "done"], ""))


if __name__ == "__main__":
    unittest.main()
