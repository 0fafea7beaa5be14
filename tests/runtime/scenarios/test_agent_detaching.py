"""Programs that do something about an agent while dvm, or its guard, places or removes it."""

import ctypes
import mmap
import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import time
import unittest

import dvmtest
from dvmtest import program
from scenarios.test_agent import guards_of
from scenarios.test_agent_faults import PATIENCE, RIGHT, FaultTest
from scenarios.test_agent_hostile import Hostile

SEIZE = """import ctypes, sys
print(ctypes.CDLL(None).ptrace(0x4206, int(sys.argv[1]), None, None), flush=True)
sys.stdin.read()"""
WAITED = 10_000_000_000  # ticks of the TSC that a thread waits for a guard that does nothing
WORDS_OF_ARMED_PAGE = 7  # behind them: the TSC when a guard last began to restore the code


def make_clock():
    """A function that returns the TSC."""
    code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(bytes.fromhex("0f3148c1e2204809d0c3"))  # rdtsc; shl $32, %rdx; or %rdx, %rax; ret
    call = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    return lambda: call() if code else 0  # keeps the code


ticks = make_clock()


def begin_detaching(tracer, pid, restoring=None):
    """Kills dvm. Its guard only disarms the agent until it is continued, and may have said when it was at work. Returns the guard."""
    (guard,) = guards_of(pid)
    os.kill(guard, signal.SIGSTOP)
    tracer.kill()
    tracer.wait()
    maps = pathlib.Path(f"/proc/{pid}/maps").read_text()
    with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
        for begin in re.findall(r"^(\w+)-\w+ r-xp \S+ \S+ 0 *$", maps, re.M):
            memory.seek(int(begin, 16))
            magic, armed = struct.unpack("8sQ", memory.read(16))
            if magic == b"vmagent1":
                memory.seek(armed)
                memory.write(bytes(8))
                if restoring is not None:
                    memory.seek(armed + 8 * WORDS_OF_ARMED_PAGE)
                    memory.write(struct.pack("Q", restoring))
    return guard


class HandlerWhileDetaching(FaultTest):
    def test_its_handler_sees_the_original_addresses(self):
        target = self.start("fetch", "late")
        guard = begin_detaching(self.trace(target, "pid$target:faulting:fetch:entry { @ = count(); }"), target.pid)
        target.stdin.write("\n")
        time.sleep(0.2)
        os.kill(guard, signal.SIGCONT)
        self.assertEqual((target.communicate(timeout=PATIENCE)[0], target.returncode), (RIGHT, 0))

    def test_also_if_the_guard_cannot_stop_the_program_for_a_while(self):
        """It has another tracer, for longer than a thread waits for a guard that does nothing."""
        target = self.start("fetch", "late")
        guard = begin_detaching(self.trace(target, "pid$target:faulting:fetch:entry { @ = count(); }"), target.pid)
        other = subprocess.Popen([sys.executable, "-c", SEIZE, str(target.pid)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(other.communicate)
        self.assertEqual(other.stdout.readline(), b"0\n")
        target.stdin.write("\n")
        os.kill(guard, signal.SIGCONT)
        began = ticks()
        while ticks() - began < 1.3 * WAITED:
            time.sleep(0.1)
        other.communicate()
        self.assertEqual((target.communicate(timeout=PATIENCE)[0], target.returncode), (RIGHT, 0))

    def test_a_guard_that_is_gone_is_waited_for_once(self):
        """It was at work before the TSC went back, as in a machine that was suspended."""
        target = self.start("barrier", "tenth")
        tracer = self.trace(target, "pid$target:faulting:store:entry { @ = count(); }")
        os.kill(begin_detaching(tracer, target.pid, restoring=1 << 62), signal.SIGKILL)
        began = ticks()
        self.assertEqual((target.communicate("\n", timeout=PATIENCE)[0], target.returncode), (RIGHT, 0))
        self.assertLess(ticks() - began, 5 * WAITED)


class UnmappedWhileDetaching(Hostile):
    def test_the_jumps_are_taken_off_before(self):
        target = self.start("munmap")
        guard = begin_detaching(self.trace(target.pid), target.pid)
        target.stdin.write("\n")
        time.sleep(0.2)
        os.kill(guard, signal.SIGCONT)
        self.assertRegex(target.communicate(timeout=PATIENCE)[0], r"took [2-9], calls 2000\n")
        self.assertEqual(target.returncode, 0)


class InterruptedInWatched(FaultTest):
    """No jump may be placed where that of munmap() cannot be: the program unmaps memory of dvm's."""

    def test_no_jump_is_placed(self):
        self.program = program("halfway")
        func = "pid$target:halfway:func:entry { @ = count(); }"
        for script in (func, func + " pid$target:halfway:munmap:entry { n++; }"):
            with self.subTest(script):
                target = self.start()
                tracer = self.trace(target, script)
                self.assertRegex(target.communicate("\n", timeout=PATIENCE)[0], r"took \d, calls 2000\n")
                self.assertEqual(target.returncode, 0)
                out, err = tracer.communicate(timeout=PATIENCE)
                self.assertIn("a function by which the process may unmap memory of the agent cannot be watched", err)
                if not dvmtest.missing_privilege():
                    self.assertIn("2000", out.split())


class BesideAUprobeOnWatched(FaultTest):
    """Another dvm has a uprobe on munmap() of the C library."""

    def test_no_jump_is_placed(self):
        if why := dvmtest.missing_privilege():
            dvmtest.skip_or_fail(self, why)
        self.program = program("unmapper")
        target = self.start("munmap")
        other = dvmtest.start_tracer(self, "pid$target:libc.so.6:munmap:entry { n++; }", "-x", "backend=uprobe", "-p", str(target.pid))
        tracer = self.trace(target, "pid$target:unmapper:func:entry { @ = count(); }")
        self.assertRegex(target.communicate("\n", timeout=PATIENCE)[0], r"calls 2000\n")
        self.assertEqual(target.returncode, 0)
        out, err = tracer.communicate(timeout=PATIENCE)
        self.assertIn("a function by which the process may unmap memory of the agent cannot be watched", err)
        self.assertIn("2000", out.split())
        other.communicate(timeout=PATIENCE)


if __name__ == "__main__":
    unittest.main()
