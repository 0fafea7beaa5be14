"""Probes by an agent in the process: the same results as by uprobes, without privileges, and a program that nothing harms."""

import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import dvmtest
from dvmtest import DVM, ENV, Text, program

CYCLES = int(os.environ.get("DVM_HARM_CYCLES", "8" if dvmtest.SANITIZED else "20"))  # ./bootstrap torture has 1000
PATIENCE = 30  # seconds: a loaded machine is slow, not wrong
LIBRARY = str(pathlib.Path(program("torture")).parent / "liblate_library.so")
NOBODY = 65534

# As many as share no factor with the ways of a cycle, so that each meets each.
HARMFUL = [
    "pid$target:torture::entry { @[probefunc] = count(); }",
    "pid$target:libc::entry { @[tid] = count(); }",
    "pid$target:torture:descend:entry { @[ustack(5)] = count(); }",
    "pid$target::late_function:entry, pid$target::on_signal:entry { @[probefunc, arg0] = count(); }",
    "pid$target:libstdc*::entry { @[probefunc, execname] = count(); }",
    "pid$target:torture::entry { self->t = timestamp; self->n++; } pid$target:torture::return /self->t/ { @[self->n & 7] = quantize(timestamp - self->t); self->t = 0; }",
    "pid$target:libc:str*:entry, pid$target:libc:mem*:entry { @[copyinstr(arg0), probefunc] = count(); }",
    "pid$target:libc::entry { @[probefunc, execname] = sum(arg0); } pid$target:torture::return { @r[copyinstr(arg1)] = count(); }",
    "pid$target:torture::entry { @[probefunc] = count(); } pid$target:torture::return, pid$target:libstdc*::return { @r[probefunc, arg0] = count(); }",
]


def is_machine_able():
    text = pathlib.Path("/proc/cpuinfo").read_text()
    return all(re.search(rf"\b{flag}\b", text) for flag in ("rdtscp", "fsgsbase", "nonstop_tsc"))


def guards_of(tracer):
    """Guards have the memory of dvm, so its command line."""
    found = []
    for status in pathlib.Path("/proc").glob("[0-9]*/comm"):
        try:
            if status.read_text() == "dvm-guard\n" and f"-p\0{tracer}\0" in (status.parent / "cmdline").read_text():
                found.append(int(status.parent.name))
        except OSError:
            pass
    return found


class AgentTest(unittest.TestCase):
    def setUp(self):
        if not is_machine_able():
            dvmtest.skip_or_fail(self, "this processor lacks rdtscp, fsgsbase or an invariant TSC")

    def run_dvm(self, text, *args):
        return dvmtest.dvm("run", "-q", "-x", "backend=agent", "-n", text, *args)


class Results(AgentTest):
    LOOPER = program("looper") + " 10000"

    def test_all_firings_are_counted(self):
        result = self.run_dvm("pid$target:looper:func:entry { @ = count(); }", "-c", self.LOOPER)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("10000", result.stdout.split())

    def test_static_programs_from_their_start(self):
        """Thread-local storage, which an agent needs, is set up later."""
        for name in ("strings_static", "strings_static_pie"):
            for options in ([], ["-x", "evaltime=main"]):
                with self.subTest(name, options=options):
                    result = self.run_dvm("pid$target:a.out:main:entry { @ = count(); }", "-c", program(name), *options)
                    if options or not dvmtest.missing_privilege():
                        self.assertEqual((result.stderr, result.stdout.split()), ("", ["1"]))
                    else:
                        self.assertIn("its C library has set up no thread-local storage", result.stderr)

    def test_strings_arguments_and_names_are_captured(self):
        text = "pid$target:looper:func:entry { @[copyinstr(arg0), execname, pid == $target, tid == pid, probefunc] = count(); }"
        result = self.run_dvm(text, "-c", self.LOOPER)
        self.assertEqual(result.stderr, "")
        self.assertRegex(result.stdout, r"hello DTrace +looper +1 +1 +func +10000")

    def test_bad_addresses_are_faults_of_the_clause(self):
        text = "pid$target:looper:func:entry { @[copyinstr(arg0 * 0 + 4096 + 8)] = count(); } ERROR { @e[arg4 == 1] = count(); }"
        result = self.run_dvm(text, "-c", self.LOOPER)
        self.assertRegex(result.stdout, r"1 +10000")

    def test_timestamps_are_of_the_clock_of_the_kernel(self):
        text = """BEGIN { begun = timestamp; last = timestamp; }
                  pid$target:looper:func:entry /timestamp < last || walltimestamp < 1000000000000000000/ { wrong++; }
                  pid$target:looper:func:entry { last = timestamp; n++; }
                  END { printf("%d %d %d", n, wrong, last > begun && timestamp > last); }"""
        result = self.run_dvm(text, "-c", self.LOOPER)
        self.assertEqual(result.stdout.split()[-3:], ["10000", "0", "1"], result.stderr)

    def test_flags_are_kept(self):
        for body in ("{ @ = count(); }", "{ @[execname] = count(); }"):  # in the thread, and by a record
            with self.subTest(body):
                result = self.run_dvm("pid$target:flags:kept:2 " + body, "-c", program("flags"))
                self.assertRegex(result.stdout, r"(?m)^0 of 25600 changed$", result.stderr)
                self.assertRegex(result.stdout, r"\s25600\n")

    def test_stacks_lead_to_main(self):
        result = self.run_dvm("pid$target:looper:func:entry { @[ustack(3)] = count(); }", "-c", program("looper") + " 100")
        self.assertRegex(result.stdout, r"(?s)looper`func\n +looper`main.*\n +100\n")

    def test_what_an_agent_cannot_take_goes_elsewhere_or_is_refused(self):
        result = self.run_dvm("pid$target:a.out:tail:return { @ = count(); }", "-c", program("returns"))
        self.assertIn("10000 4 14\n", result.stdout)
        if result.returncode == 0:
            self.assertRegex(result.stdout, r"\n +1\n")
        else:
            self.assertIn("it leaves by a jump to another function", result.stderr)

    def test_losses_before_begin_are_none(self):
        script = "import ctypes, sys; libc = ctypes.CDLL(None); code = (ctypes.c_ubyte * 8).from_address(ctypes.cast(libc.getppid, ctypes.c_void_p).value); " \
                 "before = bytes(code); print(flush=True); all(iter(lambda: bytes(code) == before, False)); [libc.getppid() for _ in range(20000)]; sys.stdin.read()"
        target = subprocess.Popen(["python3", "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(target.communicate)
        target.stdout.readline()
        result = self.run_dvm("BEGIN { chill(400000000); } pid$target:libc:getppid:entry { printf(\"%d\", pid); } tick-100ms { exit(0); }", "-w", "-x", "ringsize=128k",
                              "-p", str(target.pid))
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_every_function_of_a_module_at_once(self):
        result = self.run_dvm("pid$target:libc::entry, pid$target:looper:func:entry { @[probefunc] = count(); }", "-c", self.LOOPER)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"func +10000")


class Placements(AgentTest):
    """-v names what makes each probe fire, also where an agent could not take it."""

    def test_a_listing_and_a_run_say_the_same(self):
        descriptions = [f"pid$target:a.out:{function}:{name}" for function in ("tail", "passes") for name in ("entry", "return")]
        listed = dvmtest.dvm("list", "-v", "-x", "backend=agent", *descriptions, "-c", program("returns")).stdout
        run = dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-n", ", ".join(descriptions) + " { @ = count(); }", "-c", program("returns"))
        self.assertIn("10000 4 14\n", run.stdout)
        for text in (listed, run.stderr):
            self.assertRegex(text, r"backend local \(agent(, in the traced thread)?\), engine (interp|site code); ")
            self.assertRegex(text, r"backend local \((uprobe|breakpoint)\), engine \w+; not agent: it leaves by a jump to another function, and the stack is not known there; ")
        self.assertIn("; not agent: another probe of its function cannot be placed by an agent, and a function is probed in one way only; ", run.stderr)

    def test_the_name_of_the_process_needs_no_uprobe(self):
        """Only that of its parent does."""
        result = dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-n", "pid$target:looper:func:entry { @[curthread->t_procp->p_user.u_comm] = count(); }",
                             "-c", program("looper") + " 3")
        self.assertIn("backend local (agent", result.stderr)
        self.assertRegex(result.stdout, r"looper +3\n")

    def test_a_listing_of_a_script_says_where_each_clause_runs(self):
        entry, work = "pid$target:looper:func:entry ", ("-x", "backend=agent", "-c", program("looper") + " 3")
        script = entry + "{ @ = count(); }" + entry + '{ printf("%d\\n", arg0); }'
        listed = dvmtest.dvm("list", "-v", "-n", script, *work).stdout
        self.assertIn("\tdt_clause_0: backend local (agent, in the traced thread), engine site code; ", listed)
        self.assertIn("\tdt_clause_1: backend local (agent, with a record of its own), engine interp; not in the traced thread: a clause of the probe leaves a record", listed)
        run = dvmtest.dvm("run", "-qv", "-n", script, *work).stderr
        self.assertEqual(re.findall(r"dt_clause_(\d): (backend .*)", listed)[:2], re.findall(r"dt_clause_(\d) \S+: (backend .*)", run))


class Returns(AgentTest):
    """Returns: their offset, their value, and instructions that run in between."""

    def test_each_return_is_seen_with_its_place_and_value(self):
        result = self.run_dvm("pid$target:looper:func:entry { self->n++; } pid$target:looper:func:return /self->n/ { self->n--; @[arg1, arg0 != 0] = count(); }",
                              "-c", program("looper") + " 10000")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"\n +12 +1 +10000\n")

    def test_recursion_exceptions_and_jumps_out_pass(self):
        result = self.run_dvm("pid$target:a.out:deep:entry, pid$target:a.out:passes:entry, pid$target:a.out:throws:entry, pid$target:a.out:jumps:entry { @e[probefunc] = count(); }"
                              "pid$target:a.out:deep:return, pid$target:a.out:passes:return, pid$target:a.out:throws:return, pid$target:a.out:jumps:return"
                              "{ @r[probefunc, strjoin(probefunc, \":\")] = count(); @s = sum(arg1); }", "-c", program("returns"))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("10000 4 14\n", result.stdout)
        words = [line.split() for line in result.stdout.splitlines() if line.strip()]
        for line in (["passes", "4"], ["throws", "8"], ["jumps", "4"], ["deep", "10001"],
                     ["passes", "passes:", "3"], ["throws", "throws:", "6"], ["jumps", "jumps:", "3"], ["deep", "deep:", "10001"]):
            self.assertIn(line, words)

    def test_all_returns_of_the_library_and_the_program(self):
        expected = subprocess.run([program("contexts")], capture_output=True, text=True, check=True).stdout
        result = self.run_dvm("pid$target:libc.so.6::entry, pid$target:libc.so.6::return, pid$target:a.out::return { @[probename] = count(); }",
                              "-Z", "-c", program("contexts"))
        self.assertIn(expected, result.stdout, result.stderr)
        self.assertRegex(result.stdout, r"return +\d+\n")


class Restricted(AgentTest):
    """A program that installs a seccomp filter while it is traced is not ended by a system call of a stub."""

    def test_firings_that_need_system_calls_are_dropped(self):
        result = self.run_dvm("pid$target:restricted:func:entry { @[copyinstr(arg0)] = count(); }", "-c", program("restricted"))
        self.assertIn("right\n", result.stdout, result.stderr)
        self.assertRegex(result.stdout, r"hello DTrace +1000\n")
        self.assertIn("1000 drops", result.stderr)

    def test_others_are_not(self):
        result = self.run_dvm("pid$target:restricted:func:entry { @[arg0 != 0] = count(); }", "-c", program("restricted"))
        self.assertIn("right\n", result.stdout, result.stderr)
        self.assertRegex(result.stdout, r"1 +2000\n")

    def test_intercepted_calls_and_a_forbidden_clock(self):
        drops, off = "1000 drops", "its probes were removed"
        for mode, action, row, said in (("dispatch", "@[uid] = count();", r"\d +1000\n", drops), ("dispatch", "@[arg0 != 0] = count();", r"1 +2000\n", ""),
                                        ("dispatch", "@[curpsinfo->pr_pgid != -7] = count();", r"1 +2000\n", ""),
                                        ("clock", "@ = max(timestamp);", r" \d{6,}\n", off)):
            with self.subTest(mode, action=action):
                result = self.run_dvm(f"pid$target:restricted:func:entry {{ {action} }}", "-c", f"{program('restricted')} {mode}")
                self.assertIn("right, 0 intercepted\n", result.stdout, result.stderr)
                self.assertRegex(result.stdout, row)
                self.assertIn(said, result.stderr)

    def test_a_process_whose_calls_are_intercepted_is_refused(self):
        target = subprocess.Popen([program("restricted"), "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(target.kill)
        self.assertTrue(dvmtest.eventually(lambda: pathlib.Path(f"/proc/{target.pid}/syscall").read_text().startswith("0 ")))
        said = self.run_dvm("pid$target:restricted:func:entry { @ = count(); } tick-10ms { exit(0); }", "-v", "-p", str(target.pid)).stderr
        self.assertIn("has its system calls intercepted", said)
        self.assertIn("right, 0 intercepted", target.communicate("x\n")[0])


class Memory(AgentTest):
    """Empty rings use no memory of the process."""

    TARGET = "import ctypes, os; print(ctypes.CDLL(None).mlockall({flags}), flush=True); input(); [os.getppid() for _ in range(20000)]; print(open('/proc/self/status').read(), flush=True); input()"

    LATER = 'import ctypes, os, sys; [os.getppid() for _ in range(100)]; done = eval("ctypes.CDLL(None)." + sys.argv[1]); ' \
            'print(next(line.split()[1] for line in open("/proc/self/status") if line.startswith("RssShmem")), done, flush=True); os.getppid()'

    def kib(self, flags):
        target = subprocess.Popen(["python3", "-c", self.TARGET.format(flags=flags)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(target.communicate)
        self.addCleanup(target.kill)
        if target.stdout.readline() != "0\n" and flags:
            dvmtest.skip_or_fail(self, "memory cannot be locked here")
        dvmtest.start_tracer(self, "pid$target:libc:getppid:entry { @[ustack()] = count(); }", "-x", "backend=agent", "-p", str(target.pid))
        target.stdin.write("\n")
        target.stdin.flush()
        line = next(line for line in target.stdout if line.startswith("RssShmem"))
        return int(line.split()[1])

    def test_of_a_thread_that_fires_the_ring_alone(self):
        self.assertLess(self.kib(0), 20 << 10)

    def test_of_a_process_that_locks_its_memory_little(self):
        self.assertLess(self.kib(3), 20 << 10)  # MCL_CURRENT, MCL_FUTURE

    def test_a_process_that_locks_its_memory_later_locks_none_of_dvm(self):
        for call in ("mlockall(3)", "syscall(151, 1)"):
            with self.subTest(call):
                result = self.run_dvm("pid$target:libc:getppid:entry { @ = count(); @a[ustack(2)] = count(); } END { trunc(@a); }", "-Z",
                                      "-c", f"{sys.executable} -c '{self.LATER}' '{call}'")
                words = result.stdout.split()
                if words[1] != "0":
                    dvmtest.skip_or_fail(self, "memory cannot be locked here")
                self.assertLess(int(words[0]), 20 << 10)
                self.assertEqual(words[2:], ["100"], result.stderr)
                self.assertIn("locked its memory (mlockall)", result.stderr)

    THREADS = 'import ctypes, os, sys, threading; done = []; print(os.getppid(), flush=True); input(); sys.argv[2:] and os.fork(); ' \
              'threads = [threading.Thread(target=lambda: done.append(ctypes.CDLL(None).mlockall(3))) for _ in range(int(sys.argv[1]))]; ' \
              '[one.start() for one in threads]; [one.join() for one in threads]; ' \
              'shared = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("RssShmem")); ' \
              'os.write(1, f"{shared} {sum(done)}\\n".encode())'  # at once, as the other one writes, too

    def lock_all(self, threads, *options, meanwhile, forks=()):
        """In a target of that many threads, and one that it may fork, which are all about to lock its memory while dvm is stopped. `meanwhile` gets dvm."""
        target = subprocess.Popen(["python3", "-c", self.THREADS, str(threads), *forks], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.addCleanup(target.communicate)
        self.addCleanup(target.kill)
        target.stdout.readline()
        tracer = dvmtest.start_tracer(self, "pid$target:libc:getppid:entry { @ = count(); }", "-x", "backend=agent", *options, "-p", str(target.pid))
        tracer.send_signal(signal.SIGSTOP)
        target.stdin.write("\n")
        time.sleep(0.3)  # they wait for up to four seconds
        meanwhile(tracer)
        for _ in range(1 + len(forks)):
            kib, failed = target.stdout.readline().split()
            if failed != "0":
                dvmtest.skip_or_fail(self, "memory cannot be locked here")
            self.assertLess(int(kib), 20 << 10)

    def test_several_threads_that_lock_its_memory_at_once(self):
        self.lock_all(3, meanwhile=lambda tracer: tracer.send_signal(signal.SIGCONT))

    def test_one_that_locks_its_memory_while_dvm_is_killed(self):
        self.lock_all(1, meanwhile=lambda tracer: tracer.kill())

    def test_one_that_is_followed_locks_its_memory(self):
        self.lock_all(2, "-x", "followfork", meanwhile=lambda tracer: tracer.send_signal(signal.SIGCONT))

    def test_one_that_is_followed_and_its_child_lock_their_memory(self):
        self.lock_all(1, "-x", "followfork", meanwhile=lambda tracer: tracer.send_signal(signal.SIGCONT), forks=["forks"])


class Detach(AgentTest):
    def test_takes_off_what_killed_ones_have_left(self):
        target = subprocess.Popen([program("looper"), "1000", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(target.communicate)
        self.assertEqual(target.stdout.readline(), b"ready\n")
        text = Text(target.pid, "looper")
        text.original = without_paddings(text)
        tracer = subprocess.Popen([DVM, "run", "-q", "-x", "backend=agent", "-n", "pid$target:looper:func:entry { @ = count(); }", "-p", str(target.pid)],
                                  stdout=subprocess.DEVNULL, env=ENV)
        self.assertTrue(dvmtest.eventually(lambda: changed(text)))
        refused = dvmtest.dvm("detach", "-p", str(target.pid))
        self.assertEqual(refused.returncode, 1)
        self.assertIn(f"is traced by process {tracer.pid}", refused.stderr)
        self.assertTrue(dvmtest.eventually(lambda: guards_of(target.pid)))
        for guard in guards_of(target.pid):
            os.kill(guard, signal.SIGKILL)
        tracer.kill()
        tracer.wait()
        self.assertTrue(changed(text))
        detached = dvmtest.dvm("detach", "-p", str(target.pid))
        self.assertEqual((detached.returncode, detached.stderr), (0, ""))
        self.assertFalse(changed(text))
        target.communicate(b"\n", timeout=PATIENCE)
        self.assertEqual(target.returncode, 0)


class Followed(AgentTest):
    """Clauses that run in threads of children of a followed process."""

    WORK = "pid$target:a.out:work:"
    SCRIPTS = [WORK + "entry { @[arg0, pid == $target, tid == pid, copyinstr(arg1), execname] = count(); }",
               WORK + "entry /pid != $target && arg0 > 1/ { @ = sum(arg0); @p[pid == tid] = quantize(arg0); }",
               WORK + "entry { self->n++; self->t = timestamp; } " + WORK + "return /self->t/ { @[arg1] = max(self->n); @late = sum((int64_t)(timestamp - self->t) < 0); self->t = 0; }"]

    def run_script(self, script, backend, count="6"):
        return dvmtest.dvm("run", "-qv", "-x", "backend=" + backend, "-x", "followfork", "-x", "aggsortkey", "-n", script, "-c", program("forks") + " " + count)

    def test_results_are_those_of_uprobes(self):
        if os.geteuid() != 0:
            dvmtest.skip_or_fail(self, "needs root, for uprobes")
        for script in self.SCRIPTS:
            with self.subTest(script):
                here, there = self.run_script(script, "agent"), self.run_script(script, "uprobe")
                self.assertIn("(agent, in the traced thread)", here.stderr)
                self.assertNotIn("drops", here.stderr)
                self.assertEqual(here.stdout, there.stdout)

    def test_each_child_counts_by_its_own_number(self):
        result = self.run_script(self.WORK + "entry { @[pid] = count(); }", "agent", "40")
        counts = sorted(int(count) for count in re.findall(r"(?m)^ +\d+ +(\d+)$", result.stdout))
        self.assertEqual(counts, sorted([1] + [1] * 40 + list(range(1, 41))))

    def test_of_children_that_the_library_did_not_fork(self):
        script = "import ctypes, os; libc = ctypes.CDLL(None); child = libc.syscall(57); [libc.getppid() for _ in range(20000)]; child and os.waitpid(child, 0); os._exit(0)"
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(script)
            file.flush()
            result = dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-x", "followfork", "-n", "pid$target:libc:getppid:entry { @[pid == $target, tid == pid] = count(); }",
                                 "-c", f"/usr/bin/python3 {file.name}")
        self.assertIn("(agent, in the traced thread)", result.stderr)
        self.assertNotIn("drops", result.stderr)
        rows = sorted(line.split() for line in result.stdout.splitlines() if re.fullmatch(r"[ \d]+", line))
        self.assertEqual(rows, [["0", "1", "20000"], ["1", "1", "20000"]])


class Forked(AgentTest):
    """Children of a followed process, after dvm has ended."""

    PARENT = "import os, time; print(flush=True); input(); child = os.fork(); child or [(os.getppid(), time.sleep(0.001)) for _ in range(10**6)]; print(child, flush=True); input()"

    def test_children_get_their_code_back(self):
        for ends in ("exits", "is killed"):
            with self.subTest(ends):
                self.check(ends)

    def check(self, ends):
        parent = subprocess.Popen(["python3", "-c", self.PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(parent.communicate)
        self.addCleanup(parent.kill)
        parent.stdout.readline()
        tracer = dvmtest.start_tracer(self, 'pid$target:libc:getppid:entry /pid != $target/ { printf("%d\\n", pid); }', "-x", "backend=agent",
                                      "-x", "followfork", "-x", "switchrate=10ms", "-p", str(parent.pid))
        parent.stdin.write("\n")
        parent.stdin.flush()
        child = int(parent.stdout.readline())
        self.addCleanup(os.kill, child, signal.SIGKILL)
        self.assertEqual(tracer.stdout.readline().strip(), str(child))
        texts = [Text(pid, "libc.so") for pid in (parent.pid, child)]
        for text in texts:
            text.original = without_paddings(text)
            self.assertTrue(changed(text))
        tracer.send_signal(signal.SIGINT if ends == "exits" else signal.SIGKILL)
        for text in texts:
            self.assertTrue(dvmtest.eventually(lambda text=text: not changed(text)))
        state = pathlib.Path(f"/proc/{child}/stat")
        self.assertTrue(dvmtest.eventually(lambda: state.read_text().rsplit(") ")[1][0] == "S"))  # it rests most of the time


class Unprivileged(AgentTest):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            dvmtest.skip_or_fail(self, "needs root, to become a user")

    def run_as_user(self, text, name, arguments, *options):
        with tempfile.TemporaryDirectory(prefix="dvm-agent-") as folder:
            os.chmod(folder, 0o755)
            dvm, copy = dvmtest.copy_of_dvm(folder), shutil.copy(program(name), folder)
            command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all", dvm, "run", "-q",
                       "-x", "backend=agent", *options, "-n", text, "-c", f"{copy} {arguments}"]
            result = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=ENV, timeout=120)
            self.assertEqual(result.returncode, 0, result.stderr)
            return result

    def test_a_user_needs_no_privileges(self):
        result = self.run_as_user("pid$target:looper:func:entry { @[copyinstr(arg0)] = count(); }", "looper", "10000")
        self.assertEqual(result.stderr, "")
        self.assertRegex(result.stdout, r"hello DTrace +10000")

    def test_what_breakpoints_cannot_take_either_is_left_out(self):
        result = self.run_as_user("pid$target:libc.so.6::entry, pid$target:libc.so.6::return, pid$target:looper:func:entry { @[probefunc] = count(); }", "looper", "10000")
        self.assertRegex(result.stderr, r"\d+ probes left out, \S+: it leaves by a jump to another function|left out, .* and others: ")
        self.assertRegex(result.stdout, r"func +10000")

    def test_children_are_followed(self):
        result = self.run_as_user("pid$target:forks:work:entry { @[arg0, pid == $target, progenyof($target)] = count(); }", "forks", "3", "-x", "followfork")
        rows = sorted(line.split() for line in result.stdout.splitlines() if line)
        self.assertEqual(rows, [["0", "1", "1", "1"], ["1", "0", "1", "1"], ["100", "0", "1", "3"], ["2", "0", "1", "2"], ["3", "0", "1", "3"]])


class Harm(AgentTest):
    """SIGKILL to dvm, to its guard, or to both, at any moment."""

    def start(self):
        process = subprocess.Popen([program("torture"), LIBRARY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def finish(self, process):
        out, _ = process.communicate("\n", timeout=4 * PATIENCE)
        return out

    def cycle(self, step, pid, chance):
        text, how = HARMFUL[step % len(HARMFUL)], step % 4
        text += "" if how else " tick-50ms { exit(0); }"
        tracer = subprocess.Popen([DVM, "run", "-q", "-Z", "-x", "backend=agent", "-n", text, "-p", str(pid)], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, env=ENV)
        if how:
            time.sleep(chance.uniform(0, 0.6))
            for guard in guards_of(pid) if how > 1 else []:
                os.kill(guard, signal.SIGKILL)
            if how == 3:
                time.sleep(chance.uniform(0, 0.01))
            tracer.kill()
        _, err = tracer.communicate(timeout=4 * PATIENCE)
        return tracer.returncode, err

    def test_results_are_the_same_and_no_jump_stays(self):
        expected = self.finish(self.start())
        chance = random.Random(11)
        torture = self.start()
        self.addCleanup(torture.wait)
        self.addCleanup(torture.kill)
        texts = [Text(torture.pid, part) for part in ("torture", "libc.so", "libstdc++.so")]
        for step in range(CYCLES):
            code, err = self.cycle(step, torture.pid, chance)
            self.assertIsNone(torture.poll(), f"the program ended in step {step}")
            if step % 4 == 0:
                self.assertEqual(code, 0, err)
        # The last one clears away what killed ones have left.
        self.assertTrue(dvmtest.eventually(lambda: not guards_of(torture.pid)))
        self.cycle(0, torture.pid, chance)
        for text in texts:
            text.original = without_paddings(text)
            self.assertTrue(dvmtest.eventually(lambda text=text: not changed(text)), text.path)
        self.assertEqual(self.finish(torture), expected)
        self.assertEqual(torture.returncode, 0)


def without_paddings(text):
    """The code up to its end in the file. The code that starts the agent lies after that."""
    headers = subprocess.run(["readelf", "-lW", text.path], capture_output=True, text=True, check=True).stdout
    offset, size = (int(n, 16) for n in re.search(r"LOAD\s+(\S+)\s+\S+\s+\S+\s+(\S+)\s+\S+\s+R E", headers).groups())
    return text.original[: offset % 4096 + size]


def changed(text):
    with open(f"/proc/{text.pid}/mem", "rb") as memory:
        memory.seek(text.begin)
        return memory.read(len(text.original)) != text.original


if __name__ == "__main__":
    unittest.main()
