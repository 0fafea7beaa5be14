"""Programs and tracers that an agent does not expect: none of them harms the process."""

import os
import pathlib
import re
import resource
import shutil
import signal
import struct
import subprocess
import time
import unittest

import dvmtest
from dvmtest import program
from scenarios.test_agent import AgentTest, without_paddings

AS_NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all")
PATIENCE = 30  # seconds: a loaded machine is slow, not wrong
FUNC = "pid$target:unmapper:func:entry { @ = count(); }"


def is_machine_able():
    text = pathlib.Path("/proc/cpuinfo").read_text()
    return all(re.search(rf"\b{flag}\b", text) for flag in ("rdtscp", "fsgsbase", "nonstop_tsc"))


class Hostile(unittest.TestCase):
    def setUp(self):
        if not is_machine_able():
            dvmtest.skip_or_fail(self, "this processor lacks rdtscp, fsgsbase or an invariant TSC")

    def start(self, *arguments, name="unmapper", command=(), **options):
        target = subprocess.Popen([*(command or [program(name)]), *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, **options)
        self.addCleanup(target.communicate)
        self.addCleanup(target.kill)
        self.assertEqual(target.stdout.readline(), "ready\n")
        return target

    def trace(self, pid, *arguments):
        """dvm with an agent, once its probes are on."""
        return dvmtest.start_tracer(self, FUNC, "-x", "backend=agent", *arguments, "-p", str(pid))

    def ask(self, target):
        target.stdin.write("\n")
        self.assertEqual(target.stdout.readline(), "calls 1000\n")


def code_of(pid, name="unmapper", protection="r-xp"):
    """Without the code that starts the agent, which remains."""
    text = dvmtest.Text(pid, name, protection)
    text.original = without_paddings(text)
    return text


def guard_of(pid):
    for status in pathlib.Path("/proc").glob("[0-9]*/comm"):
        try:
            if status.read_text() == "dvm-guard\n" and f"-p\0{pid}\0" in (status.parent / "cmdline").read_text():
                return int(status.parent.name)
        except OSError:
            pass
    return None


class Unmapped(Hostile):
    """Programs that unmap memory which dvm has mapped."""

    def test_the_probes_are_taken_off_before(self):
        for way in (*dvmtest.memory_functions(), "raw", "bulk"):
            with self.subTest(way):
                self.check(way)

    def check(self, way):
        target = self.start(way)
        tracer = self.trace(target.pid)
        out, _ = target.communicate("\n", timeout=PATIENCE)
        self.assertRegex(out, r"took [2-9], calls 2000\n")
        self.assertEqual(target.returncode, 0)
        out, err = tracer.communicate(timeout=PATIENCE)
        self.assertEqual(out.split(), ["1000"])
        self.assertIn(f"process {target.pid}: its probes were removed, because it unmapped or protected memory", err)

    def test_also_if_breakpoints_take_probes_of_munmap(self):
        """munmap_chunk() ends with a jump to munmap(), so an agent leaves its return to a breakpoint."""
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            dvmtest.skip_or_fail(self, "needs root, to become a user")
        folder = dvmtest.own_folder(self)
        os.chmod(folder, 0o755)
        for file in (dvmtest.DVM, program("unmapper"), program("tracing_privilege")):
            shutil.copy(file, folder)
        if dvmtest.privilege_missing_for("breakpoints", AS_NOBODY, folder / "tracing_privilege"):
            dvmtest.skip_or_fail(self, "users may not have breakpoints")
        target = self.start("munmap", command=(*AS_NOBODY, "./unmapper"), cwd=folder)
        script = FUNC + ' pid$target:libc:mun*:entry, pid$target:libc:mun*:return { n++; } BEGIN { printf("on\\n"); }'
        tracer = subprocess.Popen([*AS_NOBODY, "./dvm", "run", "-q", "-Z", "-x", "backend=agent", "-n", script, "-p", str(target.pid)],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, env=dvmtest.ENV)
        self.addCleanup(tracer.communicate)
        self.addCleanup(tracer.kill)
        self.assertEqual(tracer.stdout.readline(), "on\n")
        self.assertRegex(target.communicate("\n", timeout=PATIENCE)[0], r"took [2-9], calls 2000\n")
        self.assertEqual(target.returncode, 0)
        self.assertEqual(tracer.communicate(timeout=PATIENCE)[0].split(), ["1000"])

    GIVE = """.globl give
.type give, @function
give: .cfi_startproc
  mov (%rdi), %rsi
  .skip 16, 0x90
  jmp munmap
.cfi_endproc
.size give, . - give
.section .note.GNU-stack
"""

    def test_also_if_uprobes_take_a_function_that_jumps_to_munmap(self):
        """As munmap_chunk() does. Probes of munmap() itself stay with the agent, which watches it."""
        if reason := dvmtest.missing_privilege():
            dvmtest.skip_or_fail(self, reason)
        folder = dvmtest.own_folder(self)
        source = pathlib.Path(__file__).parents[2] / "programs" / "unmapper.c"
        subprocess.run([os.environ.get("DVM_CC", "cc"), "-static", "-x", "assembler", "-", "-x", "c", source, "-o", "unmapper"],
                       input=self.GIVE, text=True, cwd=folder, check=True)
        script = FUNC + "".join(f" pid$target:unmapper:{name}:entry, pid$target:unmapper:{name}:return {{ n++; }}" for name in ("give", "munmap"))
        target = self.start("munmap", command=[folder / "unmapper"])
        tracer = dvmtest.start_tracer(self, script, "-x", "backend=agent", "-p", str(target.pid))
        self.assertRegex(target.communicate("\n", timeout=PATIENCE)[0], r"took [2-9], calls 2000\n")
        self.assertEqual(target.returncode, 0)
        out, err = tracer.communicate(timeout=PATIENCE)
        self.assertEqual(out.split(), ["1000"])
        self.assertIn(f"process {target.pid}: its probes were removed, because it unmapped or protected memory", err)

    def test_before_a_string_that_lasted_is_withdrawn(self):
        for way, text in ("stack", "on the stack"), *((way, "a constant") for way in ("literal", "removed", "moved", "keyed")):
            with self.subTest(way):
                target = self.start(way, name="withdrawn")
                tracer = dvmtest.start_tracer(self, "pid$target:withdrawn:func:entry { @[copyinstr(arg0)] = count(); }",
                                              "-x", "backend=agent", "-p", str(target.pid))
                out, _ = target.communicate("\n", timeout=PATIENCE)
                self.assertEqual((out, target.returncode), ("calls 2000\n", 0))
                out, err = tracer.communicate(timeout=PATIENCE)
                self.assertEqual(out.split(), [*text.split(), "1000"])
                self.assertIn("its probes were removed, because it unmapped or protected memory", err)

    def test_a_system_call_of_its_own_is_not_seen_but_told_of(self):
        target = self.start("own")
        tracer = self.trace(target.pid)
        out, _ = target.communicate("\n", timeout=PATIENCE)
        self.assertEqual((out, target.returncode), ("", -signal.SIGSEGV))
        out, err = tracer.communicate(timeout=PATIENCE)
        self.assertEqual((out.split(), tracer.returncode), (["1000"], 0))
        self.assertIn(f"process {target.pid} ended by a fault while an agent had jumps in its code", err)

    def test_nothing_is_told_of_one_that_another_signal_ends(self):
        target = self.start("lines")
        tracer = self.trace(target.pid)
        target.kill()
        _, err = tracer.communicate(timeout=PATIENCE)
        self.assertNotIn("fault", err)


class Scribbling(Hostile):
    """A program that writes to what an agent has mapped. What dvm cannot read then is a drop."""

    KEY = 0x5eed12340000
    LEAVING = 72  # in DataHeader: the place of the request to take off all jumps

    @staticmethod
    def lanes_of(tracer):
        """A path of the memory that dvm shares with the process."""
        return next(fd for fd in pathlib.Path(f"/proc/{tracer}/fd").iterdir() if "/memfd:dvm-agent-" in os.readlink(fd))

    def spoil(self, tracer):
        """Writes a wrong size into the entry of a key, in the arena of the thread."""
        entry = struct.pack("<IIIIQ", 0, 1, 1, 0, self.KEY + 5)
        with open(self.lanes_of(tracer), "r+b", buffering=0) as memory:
            begin, end = 0, -1
            while (at := os.pread(memory.fileno(), end - begin, begin).find(entry) if end > begin else -1) < 0:
                begin = os.lseek(memory.fileno(), max(end, 0), os.SEEK_DATA)
                end = os.lseek(memory.fileno(), begin, os.SEEK_HOLE)
            os.pwrite(memory.fileno(), struct.pack("<II", 0, 77), begin + at)

    def test_spoilt_aggregations_are_drops(self):
        target = self.start("lines")
        script = f"pid$target:unmapper:func:entry {{ @[arg0 + {self.KEY}] = count(); }}"
        tracer = dvmtest.start_tracer(self, script, "-x", "backend=agent", "-x", "aggrate=1h", "-p", str(target.pid))
        self.ask(target)
        self.spoil(tracer.pid)
        tracer.send_signal(signal.SIGINT)
        printed, messages = tracer.communicate(timeout=PATIENCE)
        self.assertIn("1 drop", messages)
        self.assertNotIn(str(self.KEY + 6), printed)

    def test_requests_without_an_end_are_answered_less_and_less_often(self):
        """Each answer takes time of dvm's only thread."""
        tracer = self.trace(self.start("lines").pid)
        answers, end = 0, time.monotonic() + 1.2
        with open(self.lanes_of(tracer.pid), "r+b", buffering=0) as memory:
            os.pwrite(memory.fileno(), struct.pack("<Q", 1), self.LEAVING)
            while time.monotonic() < end:
                if os.pread(memory.fileno(), 8, self.LEAVING) == bytes(8):
                    answers += 1
                    os.pwrite(memory.fileno(), struct.pack("<Q", 1), self.LEAVING)
                time.sleep(0.001)
        self.assertIn(answers, range(1, 8))
        tracer.send_signal(signal.SIGINT)
        self.assertIn("its probes were removed", tracer.communicate(timeout=PATIENCE)[1])


class PageFaults(Hostile):
    """Programs that serve page faults: a thread that reads the page it is about to serve would wait for ever."""

    SCRIPT = "pid$target:hostile:take:entry { @[copyinstr(arg0)] = count(); } ERROR {} END { trunc(@); }"

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            dvmtest.skip_or_fail(self, "needs root, for userfaultfd(2)")

    def test_the_probes_are_taken_off_before(self):
        result = dvmtest.dvm("run", "-q", "-x", "backend=agent", "-n", self.SCRIPT, "-c", program("hostile") + " serves 50", timeout=PATIENCE)
        self.assertEqual((result.returncode, result.stdout.split()), (0, ["50", "served"]))
        self.assertIn("began to serve page faults", result.stderr)

    def test_an_agent_refuses_one_that_does_so_already(self):
        target = self.start("serves", "50", "waits", name="hostile")
        result = dvmtest.dvm("run", "-x", "backend=agent", "-v", "-n", self.SCRIPT + " tick-100ms { exit(0); }", "-p", str(target.pid))
        self.assertIn("it serves page faults itself (userfaultfd)", result.stderr)
        self.assertEqual(target.communicate("\n", timeout=PATIENCE)[0], "50 served\n")


class Rewritten(Hostile):
    """Programs that change their own code, as hot patches do: jumps are taken off before, and none is placed in writable code."""

    def start_patcher(self, way):
        target = self.start(way, name="patches_itself")
        script = "pid$target:patches_itself:work:entry, pid$target:patches_itself:other:entry { @[probefunc] = count(); }"
        options = ["-Z", "-x", "backend=agent", "-p", str(target.pid)]
        return target, dvmtest.start_tracer(self, script, *options)

    def test_while_it_is_traced(self):
        target, tracer = self.start_patcher("later")
        out, _ = target.communicate("\n", timeout=PATIENCE)
        self.assertEqual((out, target.returncode), ("right\n", 0))
        out, err = tracer.communicate(timeout=PATIENCE)
        self.assertEqual(out.split(), ["work", "1000"])
        self.assertIn("made probed code writable", err)

    def test_code_that_is_writable_has_no_jumps(self):
        target, _ = self.start_patcher("before")
        code = code_of(target.pid, "patches_itself", "rwxp")
        self.assertFalse(code.changed())
        out, _ = target.communicate("\n", timeout=PATIENCE)
        self.assertEqual((out, target.returncode), ("right\n", 0))


class Strict(Hostile):
    SCRIPTS = {
        "pid$target:strict:named:entry { @[copyinstr(arg0)] = count(); }": r" a string of more than eight characters +1000\n +ers +1000\n +string of",
        "pid$target:strict:named:entry { @[pid == tid] = count(); } pid$target:strict:named:return { @r = quantize(timestamp & 1); }": r"1 +3000\n",
        "pid$target:strict:named:entry { @[ustack(2), stringof(copyinstr(arg0))] = count(); }": r"eight characters\s+1000",
    }

    def test_loads_of_dvm_do_not_fault_where_unaligned_ones_do(self):
        for script, expected in self.SCRIPTS.items():
            with self.subTest(script):
                result = dvmtest.dvm("run", "-q", "-x", "backend=agent", "-n", script, "-c", program("strict") + " 1000")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertIn("right\n", result.stdout)
                self.assertRegex(result.stdout, "(?s)" + expected)

    def test_a_limit_of_the_address_space_makes_rings_smaller(self):
        for mebibytes in (4000, 256, 40):
            with self.subTest(mebibytes):
                target = self.start("lines", preexec_fn=lambda most=mebibytes << 20: resource.setrlimit(resource.RLIMIT_AS, (most, most)))
                tracer = self.trace(target.pid)
                self.ask(target)
                tracer.send_signal(signal.SIGINT)
                out, err = tracer.communicate(timeout=PATIENCE)
                self.assertEqual((out.split(), err), (["1000"], ""))
                self.ask(target)


class Threads(unittest.TestCase):
    """New threads take over lanes of threads that have ended, whether dvm has polled in between or not."""

    def trace(self, count, at_once):
        script = "pid$target:hostile:work:entry { @ = count(); @t[tid] = count(); } pid$target:hostile:take:entry { n[0]++; @n = count(); } END { trunc(@t); }"
        return dvmtest.dvm("run", "-q", "-x", "backend=agent", "-x", "aggsize=16m", "-n", script, "-c", f"{program('hostile')} threads {count} {at_once}")

    def test_nothing_is_lost_however_many_come_and_go(self):
        if not is_machine_able():
            dvmtest.skip_or_fail(self, "this processor lacks rdtscp, fsgsbase or an invariant TSC")
        for count, at_once in ((3000, 1), (2000, 200)):
            with self.subTest(at_once=at_once):
                result = self.trace(count, at_once)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                words = result.stdout.split()
                self.assertIn(str(count), words)
                self.assertIn(str(100 * count), words)


class Forks(unittest.TestCase):
    """Signal handlers that fork while the thread is in a stub: the child finishes the firing, which counts once."""

    SCRIPTS = {
        "in the thread": "pid$target:hostile:take:entry { @ = count(); @k[arg0] = sum(1); @s[ustack(2)] = count(); @m[arg0 & 1, tid != 0] = max(arg0); }",
        "with variables": "pid$target:hostile:take:entry { self->n++; @ = count(); @k[arg0] = sum(1); @s[ustack(2)] = count(); @m[arg0] = max(self->n); }",
        "of records": "pid$target:hostile:take:entry { n[0]++; @ = count(); @k[arg0] = sum(1); @s[ustack(2)] = count(); }",
    }
    PRINTED = ' END { printa("all %@d\\n", @); printa("key %@d\\n", @k); printa("stack %@d\\n", @s); }'

    def test_each_firing_counts_once(self):
        if not is_machine_able():
            dvmtest.skip_or_fail(self, "this processor lacks rdtscp, fsgsbase or an invariant TSC")
        for name, script in self.SCRIPTS.items():
            with self.subTest(name):
                result = dvmtest.dvm("run", "-q", "-x", "backend=agent", "-n", script + self.PRINTED, "-c", f"{program('hostile')} forks 300")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.check(result)

    def check(self, result):
        calls = int(re.search(r"(\d+) calls", result.stdout).group(1))
        counts = lambda kind: [int(n) for n in re.findall(rf"^{kind} (\d+)$", result.stdout, re.MULTILINE)]
        kept = calls - sum(int(drops) for drops in re.findall(r"(\d+) drops on CPU", result.stderr))  # of records, dvm may be too slow
        self.assertEqual(counts("all"), [kept], result.stderr)
        self.assertEqual((len(counts("key")), sum(counts("key")), sum(counts("stack"))), (8, kept, kept))


class Pointers(Hostile):
    def test_a_thread_without_a_control_block_fires(self):
        script = "pid$target:hostile:take:entry { @ = count(); @t[tid == pid] = sum(1); }"
        result = dvmtest.dvm("run", "-q", "-x", "backend=agent", "-n", script, "-c", program("hostile") + " blockless 1000")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.split(), ["1", "2000", "1", "2000"])

    def test_threads_with_blocks_of_the_program_fire(self):
        script = "pid$target:hostile:take:entry { @ = count(); @t[tid == pid] = sum(1); }"
        result = dvmtest.dvm("run", "-q", "-x", "backend=agent", "-n", script, "-c", program("hostile") + " blocks 1000")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.split(), ["over", "2000", "0", "2000"])


class Descriptors(Hostile):
    """Programs that rely on the numbers of their files."""

    def test_are_those_of_an_untraced_program(self):
        for limit in ([], ["limit"]):
            with self.subTest(limit):
                target = self.start(*limit, name="descriptors")
                for _ in range(5):
                    result = dvmtest.dvm("run", "-q", "-x", "backend=agent", "-Z", "-n", "pid$target:descriptors:func:entry { @ = count(); } tick-20ms { exit(0); }",
                                         "-p", str(target.pid))
                    self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(target.communicate("\n", timeout=PATIENCE)[0], "others 0\n")


class FewFiles(Hostile):
    """A dvm that may open few files."""

    def trace_with(self, most, pid):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        try:
            return self.trace(pid)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    def test_its_guard_takes_the_jumps_off_and_ends(self):
        for most in (24, 64):
            for is_killed in (False, True):
                with self.subTest(most=most, is_killed=is_killed):
                    self.check(most, is_killed)

    def check(self, most, is_killed):
        target = self.start("lines")
        code = code_of(target.pid)
        tracer = self.trace_with(most, target.pid)
        self.assertTrue(code.changed())
        tracer.kill() if is_killed else tracer.terminate()
        tracer.wait()
        self.assertTrue(dvmtest.eventually(lambda: not code.changed()))
        self.assertTrue(dvmtest.eventually(lambda: guard_of(target.pid) is None))
        self.ask(target)


class Zombies(Hostile):
    """A tracer that was killed with its guard, and whose parent has not waited for it yet."""

    def test_have_ended(self):
        target = self.start("lines")
        code = code_of(target.pid)
        tracer = self.trace(target.pid)
        os.kill(guard_of(target.pid), signal.SIGKILL)
        tracer.kill()
        state = pathlib.Path(f"/proc/{tracer.pid}/stat")
        self.assertTrue(dvmtest.eventually(lambda: ") Z " in state.read_text()))
        self.assertTrue(code.changed())
        detached = dvmtest.dvm("detach", "-p", str(target.pid))
        self.assertRegex(detached.stdout, r"[1-9]\d* probes? removed")
        self.assertFalse(code.changed())
        self.ask(target)


class Leftovers(Hostile):
    """Kernel uprobes where jumps of an agent lie."""

    def setUp(self):
        super().setUp()
        if reason := dvmtest.missing_privilege():
            dvmtest.skip_or_fail(self, reason)

    def trace_by_uprobe(self, pid):
        return dvmtest.dvm("run", "-q", "-x", "backend=uprobe", "-n", FUNC + " tick-200ms { exit(0); }", "-p", str(pid))

    def test_of_killed_tracers_are_taken_off_first(self):
        target = self.start("lines")
        tracer = self.trace(target.pid)
        os.kill(guard_of(target.pid), signal.SIGKILL)
        tracer.kill()
        tracer.wait()
        self.ask(target)
        result = self.trace_by_uprobe(target.pid)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.ask(target)

    def test_of_living_tracers_are_refused(self):
        target = self.start("lines")
        tracer = self.trace(target.pid)
        result = self.trace_by_uprobe(target.pid)
        self.assertEqual(result.returncode, 1)
        self.assertIn("an agent of another dvm has replaced its code", result.stderr)
        self.ask(target)
        tracer.send_signal(signal.SIGINT)
        out, _ = tracer.communicate(timeout=PATIENCE)
        self.assertEqual(out.split(), ["1000"])
        self.ask(target)


class Static(AgentTest):
    """Programs without shared libraries."""

    WORK = "__attribute__((noinline)) long work(long n) { __asm__ volatile(PADDING); return n + 1; }\n"
    LOOPS = "#include <unistd.h>\nint main(void) { for (;;) usleep(work(999)); }"
    WITHOUT = "void _start(void) { for (volatile long n = 0;; n++) work(n); }"

    def build(self, folder, source, *options, padding=1):
        subprocess.run([os.environ.get("DVM_CC", "cc"), "-O1", "-static", f'-DPADDING=".skip {padding}, 0x90"', *options, "-x", "c", "-", "-o", "static"], input=self.WORK + source, text=True, cwd=folder, check=True)

    def trace(self, program):
        target = subprocess.Popen([program])
        self.addCleanup(target.communicate)
        self.addCleanup(target.kill)
        said = self.run_dvm("pid$target:a.out:work:entry { @ = count(); } tick-200ms { exit(0); }", "-v", "-p", str(target.pid)).stderr
        self.assertIsNone(target.poll())
        return said

    def test_without_room_behind_its_code(self):
        folder = dvmtest.own_folder(self)
        self.build(folder, self.LOOPS)
        code = next(line for line in subprocess.run(["readelf", "-lW", folder / "static"], capture_output=True, text=True, check=True).stdout.splitlines() if "R E" in line)
        self.build(folder, self.LOOPS, padding=4096 - (int(code.split()[4], 16) + 128) % 4096)
        self.assertIn("(agent, in the traced thread)", self.trace(folder / "static"))

    def test_without_a_library(self):
        folder = dvmtest.own_folder(self)
        self.build(folder, self.WITHOUT, "-nostdlib")
        self.assertIn("its C library has set up no thread-local storage", self.trace(folder / "static"))


class Windows(AgentTest):
    """A thread may return into the bytes that a jump would replace, as far as dvm can see."""

    SOURCE = """#include <stdint.h>
#include <stdio.h>
int called(int n) { __asm__ volatile("nop"); return n + 1; }
int other(int n) { __asm__ volatile("nop"); return n + 2; }
int main(void) {
  volatile int distance = 1; volatile uintptr_t word = (uintptr_t)called + distance; /* no address that the file names */
  for (int c = puts("") >= 0 && fflush(stdout) == 0; (c = getchar()) != EOF; word = 0) printf("%d\\n", called(c) + other(c)), fflush(stdout);
}"""

    def test_a_site_is_refused_as_long_as_it_may(self):
        folder = dvmtest.own_folder(self)
        subprocess.run([os.environ.get("DVM_CC", "cc"), "-O1", "-fno-inline", "-x", "c", "-", "-o", "window"], input=self.SOURCE, text=True, cwd=folder, check=True)
        target = subprocess.Popen([folder / "window"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.addCleanup(target.communicate)
        self.assertEqual(target.stdout.readline(), "\n")
        for function, is_refused in (("called", True), ("other", False), ("called", False)):
            with self.subTest(function):
                said = self.run_dvm(f"pid$target:window:{function}:entry {{ @ = count(); }} tick-50ms {{ exit(0); }}", "-v", "-x", "breakpoints=off", "-p", str(target.pid)).stderr
                self.assertEqual("a thread may be executing its first five bytes" in said, is_refused, said)
                self.assertEqual("(agent, in the traced thread)" in said, not is_refused, said)
                target.stdin.write("a")
                target.stdin.flush()
                self.assertEqual(target.stdout.readline(), f"{2 * ord('a') + 3}\n")


if __name__ == "__main__":
    unittest.main()
