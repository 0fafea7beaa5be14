"""The session of "DTrace for Linux" on the system's own top: its system calls, their cost, and where and by which functions memory is mapped."""

import os
import re
import shutil
import tempfile
import unittest

import dvmtest
from dvmtest import dvm

# Blocks of 16 KB and more are mapped, as the top and the libc of that session had it for larger ones.
TOP = ["-x", "setenv=MALLOC_MMAP_THRESHOLD_=16384", "-x", "setenv=TERM=dumb", "-c", "top -b -d 0.2 -n 3"]

CALLS = 'lx-syscall:::entry /execname == "top"/ { @[probefunc] = count(); }'

TIMES = """
lx-syscall:::entry /execname == "top"/ { self->ts = vtimestamp; }
lx-syscall:::return /self->ts/
{
  @[probefunc] = sum(vtimestamp - self->ts);
  @["- all syscalls -"] = sum(vtimestamp - self->ts);
  self->ts = 0;
}
sched:::on-cpu /execname == "top"/ { self->on = timestamp; }
sched:::off-cpu /self->on/ { @["- total -"] = sum(timestamp - self->on); self->on = 0; }
"""

MAP = """
self uintptr_t ptr;
pid$target:libc:malloc:entry /arg0 >= 16384/ { self->size = arg0; }
syscall::mmap:return /pid == $target && self->size && self->ptr == 0/
{
  self->ptr = arg1;
  self->depth = 10;
  printf("%*s <- %s syscall\\n", self->depth, "", probefunc);
}
pid$target:libc:malloc:return { self->size = 0; }
pid$target:libc::entry /self->ptr/ { self->depth++; printf("%*s -> %s`%s\\n", self->depth, "", probemod, probefunc); }
pid$target:libc::return /self->ptr/ { printf("%*s <- %s`%s\\n", self->depth, "", probemod, probefunc); self->depth--; }
syscall::munmap:entry /self->ptr && arg0 <= self->ptr && self->ptr < arg0 + arg1/
{
  printf("%*s -> %s syscall\\n", self->depth, "", probefunc);
  self->ptr = 0;
  exit(0);
}
"""

MALLOCS = """
pid$target:libc:malloc:entry { self->follow = 1; self->size = arg0; calls++; }
syscall::mmap:entry /self->follow/ { @["mapped"] = quantize(self->size); @least["mapped"] = min(self->size); mapped++; self->follow = 0; }
pid$target:libc:malloc:return /self->follow/ { @["no map"] = quantize(self->size); self->follow = 0; }
END { printf("%d of %d\\n", mapped, calls); printa("%s%@d\\n", @); printa("least %@d\\n", @least); }
"""


class Top(dvmtest.PrivilegedTest):
    def setUp(self):
        super().setUp()
        if not shutil.which("top"):
            dvmtest.skip_or_fail(self, "there is no top (procps)")

    def session(self, text):
        """What the script prints, apart from what top does."""
        folder = self.enterContext(tempfile.TemporaryDirectory())
        out = os.path.join(folder, "out")
        result = dvm("run", "-q", "-o", out, "-n", text, *TOP)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(out) as file:
            return file.read()

    def table(self, out):
        rows = re.findall(r"^ *(\S.*?) +(-?\d+)$", out, re.MULTILINE)
        return {name: int(value) for name, value in rows}

    def test_which_system_calls_it_makes(self):
        counts = self.table(self.session(CALLS))
        for call in ("openat", "read", "close", "getdents64", "write"):
            self.assertGreater(counts[call], 0, counts)
        self.assertEqual(sorted(counts.values()), list(counts.values()))  # as aggregations are printed
        self.assertGreaterEqual(counts["getdents64"], 3)  # /proc, once a time

    def test_what_they_cost_beside_its_time_on_the_cpu(self):
        times = self.table(self.session(TIMES))
        total, calls = times.pop("- total -"), times.pop("- all syscalls -")
        self.assertEqual(sum(times.values()), calls)
        self.assertGreater(calls, 0)
        self.assertGreater(total, calls // 2)  # two clocks, and what was on a CPU before it was seen; by far more in truth

    def test_the_flow_from_mmap_to_munmap(self):
        lines = self.session(MAP).split("\n")
        flow = [line.strip() for line in lines if line.strip()]
        self.assertEqual((flow[0], flow[-1]), ("<- mmap syscall", "-> munmap syscall"))
        self.assertIn("<- libc.so.6`malloc", flow)
        self.assertTrue(any(re.fullmatch(r"-> libc\.so\.6`(cfree|free|__libc_free)", line) for line in flow), flow[-20:])
        self.assertRegex(flow[-2], r"-> libc\.so\.6`(__)?munmap")

    def test_which_sizes_are_mapped(self):
        out = self.session(MALLOCS)
        mapped, calls = map(int, re.match(r"(\d+) of (\d+)", out).groups())
        self.assertTrue(0 < mapped < calls // 10, out)
        self.assertGreaterEqual(int(re.search(r"least (\d+)", out).group(1)), 16384)
        self.assertIn("no map", out)

    def test_who_asks_for_the_big_ones(self):
        out = self.session("pid$target::malloc:entry /arg0 >= 16384/ { @[ustack()] = count(); }")
        stacks = [stack.split() for stack in re.split(r"\n +\d+\n", out) if stack.strip()]
        self.assertTrue(stacks)
        for stack in stacks:
            self.assertRegex(stack[0], r"^(libc\.so\.6|ld-linux-x86-64\.so\.2)`malloc$")
        self.assertTrue(any(frame.startswith("top`") for stack in stacks for frame in stack), out)
        self.assertTrue(any(frame.startswith("libproc") for stack in stacks for frame in stack), out)  # reads /proc for it


if __name__ == "__main__":
    unittest.main()
