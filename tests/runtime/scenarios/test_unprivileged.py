"""Tracing without privileges: probes as breakpoints in one's own processes, and the message where these do not suffice.

The mechanism is tested as a user where the kernel lets users have breakpoints, else as root, who has to ask for it. Where there are
no debug registers at all, it is tested that dvm says so.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import dvmtest
from dvmtest import DVM, ENV, ROOT, program

NOBODY = 65534
PATIENCE = 30  # seconds: a loaded machine is slow, not wrong
EXAMPLES = ROOT / "examples"


def as_user(*capabilities):
    """What makes a command run as a user with these capabilities; nothing where we are one already."""
    if os.geteuid() != 0:
        return []
    given = ",".join("+" + one for one in capabilities) or "-all"
    command = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", f"--inh-caps={given}"]
    return command + ([f"--ambient-caps={given}"] if capabilities else [])


def tracer_of(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"TracerPid:\s+(\d+)", status)[1])


def state_of(pid):
    return re.search(r"State:\s+(\w)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]


class Unprivileged(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """Users may not look into every folder: what they run lies in one of its own."""
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="dvm-unprivileged-"))
        cls.folder.chmod(0o755)
        cls.dvm = cls.copy(DVM)
        cls.looper = cls.copy(program("looper"))
        privilege = cls.copy(program("tracing_privilege"))
        cls.users_may = dvmtest.privilege_missing_for("breakpoints", as_user(), privilege) is None
        cls.prefix = as_user() if cls.users_may else []
        cls.why_not = dvmtest.privilege_missing_for("breakpoints", cls.prefix, privilege)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def copy(cls, path):
        copied = cls.folder / os.path.basename(path)  # which may still be running
        return str(copied) if copied.exists() else shutil.copy(path, cls.folder)

    @classmethod
    def run_as(cls, prefix, *args):
        return subprocess.run([*prefix, cls.dvm, *args], capture_output=True, text=True, errors="replace", timeout=120, cwd=cls.folder,
                              stdin=subprocess.DEVNULL, env=ENV)

    @classmethod
    def traced(cls, *args):
        return cls.run_as(cls.prefix, "run", "-q", "-x", "backend=breakpoint", *args)

    def setUp(self):
        if self.why_not and not isinstance(self, Refusal):
            refused = self.traced("-n", "pid$target:looper:main:entry { exit(0); }", "-c", f"{self.looper} 1")
            self.assertRegex(refused.stderr, "no debug registers|debug registers are taken|perf_event_paranoid|CAP_SYS_PTRACE")
            dvmtest.skip_or_fail(self, self.why_not)  # seen to say why: nothing more can be tested

    def counted(self, *args):
        """Aggregations of one number a key, by key."""
        result = self.traced(*args)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("drop", result.stderr)
        return dict(re.findall(r"^ +(\S.*?) +(-?\d+)$", result.stdout, re.M)), result


class Firings(Unprivileged):
    def test_every_call_is_counted_with_its_string(self):
        rows, result = self.counted("-s", str(self.copy(EXAMPLES / "looper-strings.d")), "-c", f"{self.looper} 2000")
        self.assertEqual(rows, {"hello DTrace": "2000"})
        self.assertIn("without BPF", result.stderr)
        self.assertIn("-v names the probes", result.stderr)

    def test_a_listing_has_no_cost_of_an_instruction(self):
        result = self.run_as(self.prefix, "list", "-v", "-x", "backend=breakpoint", "pid$target:looper:func:entry", "-c", self.looper)
        self.assertIn("(breakpoint)", result.stdout, result.stderr)
        self.assertNotIn("per firing", result.stdout)

    def test_options_without_effect_are_told_of(self):
        result = self.traced("-x", "return=exits", "-x", "ustackunwind=0", "-n", "pid$target:looper:func:return { @[ustack(2)] = count(); }", "-c", f"{self.looper} 5")
        self.assertEqual(result.returncode, 0, result.stderr)
        for option in ("return=exits", "ustackunwind=0"):
            self.assertEqual(result.stderr.count(f"breakpoints ignore -x {option}: "), 1, result.stderr)

    def test_a_user_needs_no_option_and_gets_an_agent(self):
        result = self.run_as(as_user(), "run", "-q", "-v", str(self.copy(EXAMPLES / "looper.d")), "-c", f"{self.looper} 2000")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"\n +2000\n")
        self.assertRegex(result.stderr, r"looper:func:entry: backend local \(agent, in the traced thread\).*not uprobe: BPF needs CAP_BPF")
        self.assertNotIn("without BPF", result.stderr)

    def test_an_agent_has_no_limit_of_places(self):
        result = self.run_as(as_user(), "run", "-q", "-n", "pid$target:libc:mem*:entry { @ = count(); }", "-c", f"{self.looper} 1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"\n +[1-9]\d*\n")

    def test_a_script_that_asks_for_uretprobes_gets_an_agent(self):
        result = self.run_as(as_user(), "tool", "memleak", "-c", "/usr/bin/python3 -S -c pass")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("left out", result.stderr)
        self.assertRegex(result.stdout, r"\n +[1-9]\d* bytes\n")

    def test_tools_that_name_a_process_see_its_system_calls(self):
        command = [*as_user(), "sh", "-c", "echo; while :; do cat /dev/null; done"]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            try:
                process.stdout.readline()  # it is that user's now
                for tool in ("syscount", "opensnoop"):
                    result = self.run_as(as_user(), "tool", tool, "-p", str(process.pid), "-d", "1")
                    self.assertEqual(result.returncode, 0, result.stderr)
                    self.assertNotIn("left out", result.stderr)
            finally:
                process.kill()

    def test_threads_are_followed_from_their_first_instruction(self):
        rows, _ = self.counted("-n", "pid$target:threads:work:entry { @[tid] = count(); }", "-c", f"{self.copy(program('threads'))} 5 300")
        self.assertEqual(list(rows.values()), ["300"] * 5)

    def test_returns_have_their_values_and_recursion_is_seen(self):
        stacks = self.copy(program("stacks"))
        result = self.traced("-n", 'pid$target:a.out:deep:return { printf("%d ", (int)arg1); }', "-c", stacks)
        self.assertEqual(result.stdout.split(), ["2", "3", "4", "5", "6", "7"], result.stderr)

    def test_the_examples_on_python(self):
        for name in ["latency.d", "malloc-sizes.d", "slow-calls.d"]:
            result = self.traced("-s", str(self.copy(EXAMPLES / name)), "-c", "/usr/bin/python3 -S -c pass")
            self.assertEqual(result.returncode, 0, result.stderr)
            # A title, a heading and a distribution of one bucket, which all times may fall into.
            self.assertGreaterEqual(len(result.stdout.split()), 12, result.stdout + result.stderr)

    def test_what_is_recorded_is_replayed(self):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="dvm-unprivileged-"))
        self.addCleanup(shutil.rmtree, folder)
        folder.chmod(0o777)
        clause = "pid$target:looper:func:entry { @ = count(); }"
        result = self.run_as(self.prefix, "record", "-x", "backend=breakpoint", "-o", str(folder / "trace"), "-n", clause, "-c", f"{self.looper} 300")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("300 events recorded", result.stderr)
        again = self.run_as(self.prefix, "replay", str(folder / "trace"), "-q", "-n", clause)
        self.assertRegex(again.stdout, r"\n +300\n")

    def test_every_entry_has_its_return(self):
        text = 'pid$target:libc:malloc:entry { @["entry"] = count(); } pid$target:libc:malloc:return { @["return"] = count(); }'
        rows, _ = self.counted("-n", text, "-c", "/usr/bin/python3 -S -c pass")
        self.assertGreater(int(rows["entry"]), 100)
        self.assertEqual(rows["entry"], rows["return"])

    def test_stacks_are_those_of_uprobes(self):
        stacks = self.copy(program("stacks"))
        result = self.traced("-n", "pid$target:a.out:bottom:entry { @[ustack(4)] = count(); }", "-c", stacks)
        frames = re.findall(r"`(\w+)|^ +(\d+)$", result.stdout, re.M)
        words = [name or count for name, count in frames]
        self.assertRegex(words.pop(3), "^(__libc_start_call_main|0x[0-9a-f]+)$")  # no symbol without the library's debug file
        self.assertEqual(words, ["bottom", "middle", "main", "1", "bottom", "deep", "deep", "deep", "1",
                                 "bottom", "middle", "top", "main", "3"], result.stdout + result.stderr)

    def test_registers_instructions_and_time_of_the_thread(self):
        # 36 is R_RIP
        text = """pid$target:looper:func:entry { self->at = uregs[36]; self->used = vtimestamp; }
                  pid$target:looper:func:0 { @[uregs[36] == self->at, vtimestamp >= self->used, cpu >= 0, execname] = count(); }"""
        result = self.traced("-n", text, "-c", f"{self.looper} 50")
        self.assertRegex(result.stdout, r"1 +1 +1 +looper +50\n", result.stderr)

    def test_flags_are_those_of_the_program(self):
        rows, _ = self.counted("-n", "pid$target:looper:func:entry { @[uregs[R_RFL] >> 16] = count(); }", "-c", f"{self.looper} 10")
        self.assertEqual(rows, {"0": "10"})

    def test_calls_that_do_not_return(self):
        rejoins = self.copy(program("rejoins"))
        text = "pid$target:rejoins:leaves:entry { @entries = count(); } pid$target:rejoins:leaves:return { @[(int)arg1] = count(); }"
        rows, _ = self.counted("-n", text, "-c", rejoins)
        self.assertEqual(rows, {"0": "1", "2": "1", "4": "1", "6": "1", "8": "1"})

    def test_calls_that_longjmp_leaves(self):
        text = "pid$target:rejoins:leaps:return { @[arg1] = count(); } pid$target:rejoins:leaps:entry { @entries = count(); }"
        result = self.traced("-n", text, "-c", self.copy(program("rejoins")))
        self.assertEqual(re.findall(r"(?m)^ +(\d+) +(\d+)$", result.stdout), [("3", "1"), ("4", "1")], result.stderr)
        self.assertIn("3 drops on CPU", result.stderr)

    def test_exceptions_of_a_program(self):
        returns = self.copy(program("returns"))
        text = "libstdcxx$target:libstdc*::throw { @[copyinstr(*(uintptr_t *)copyin(arg1 + 8, 8))] = count(); }"
        rows, _ = self.counted("-n", text, "-c", returns)
        self.assertEqual(list(rows.values()), ["2"])


class SystemCalls(Unprivileged):
    def test_the_example(self):
        result = self.traced("-s", str(self.copy(EXAMPLES / "system-calls.d")), "-c", "cat /dev/null")
        self.assertEqual(result.returncode, 0, result.stderr)
        calls = {row[0]: row[1:] for row in map(str.split, result.stdout.splitlines()) if len(row) == 3}
        self.assertEqual(calls["exit_group"], ["1", "0"], result.stdout)
        self.assertGreater(int(calls["openat"][0]), 0)

    def test_arguments_results_and_errors(self):
        text = """syscall::openat:entry /pid == $target/ { self->path = copyinstr(arg1); }
                  syscall::openat:return /pid == $target && self->path == "/nonexistent"/ { printf("%d %d %s", (int)arg1, errno, execname); }"""
        result = self.traced("-n", text, "-c", "cat /nonexistent")
        self.assertEqual(result.stdout.split(), ["-1", "2", "cat"], result.stderr)

    def test_beside_breakpoints(self):
        text = """pid$target:looper:func:entry { @calls["func"] = count(); }
                  syscall::exit_group:entry /pid == $target/ { @calls["exit_group"] = count(); }"""
        rows, _ = self.counted("-n", text, "-c", f"{self.looper} 30")
        self.assertEqual(rows, {"func": "30", "exit_group": "1"})

    def test_kernel_stacks_are_refused(self):
        result = self.traced("-n", "syscall::openat:entry /pid == $target/ { stack(); }", "-c", "cat /dev/null")
        self.assertIn("without BPF there is no kernel stack", result.stderr)

    def test_those_of_all_processes_are_refused(self):
        result = self.traced("-n", "syscall::openat:entry { @ = count(); }", "-c", "cat /dev/null")
        self.assertIn("left out", result.stderr)
        for word in ["CAP_BPF", "CAP_PERFMON", "/pid == $target/"]:
            self.assertIn(word, result.stderr)


class BesideAnAgent(Unprivileged):
    SOURCE = """
    #include <unistd.h>
    volatile int turns;
    __attribute__((noinline)) void begin(int n) { turns += n; }
    __attribute__((noinline)) void end(int n) { turns -= n; }
    int main(void) {
      for (int i = 0; i < 200; i++) begin(i), getppid(), end(i), getppid(), getppid();
    }
    """

    def test_firings_of_a_thread_are_in_order(self):
        """An agent takes the functions, and ptrace the system calls. A variable that both use shows the order of their firings."""
        if not self.users_may:
            dvmtest.skip_or_fail(self, "users have no breakpoints here")
        path = str(self.folder / "turns")
        subprocess.run(["gcc", "-O1", "-x", "c", "-", "-o", path], input=self.SOURCE, text=True, check=True)
        script = """pid$target:a.out:begin:entry { n = arg0 + 1; } pid$target:a.out:end:entry { n = -1; }
                    syscall::getppid:entry /pid == $target/ { @[n == -1 ? "outside" : "inside"] = count(); }"""
        result = self.run_as(as_user(), "run", "-q", "-v", "-n", script, "-c", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"begin:entry: backend local \(agent")
        self.assertNotIn("drop", result.stderr)
        rows = dict(re.findall(r"^ +(inside|outside) +(\d+)$", result.stdout, re.M))
        self.assertEqual(rows, {"inside": "200", "outside": "400"})


class Placements(Unprivileged):
    """What -v says of a probe that the agent refuses, as the next instruction is jumped to."""
    CODE = ".globl cramped, main\n cramped: nop\n 1: dec %edi\n jnz 1b\n ret\n main: mov $3, %edi\n call cramped\n xor %eax, %eax\n ret\n .type cramped, @function\n .size cramped, main - cramped\n"
    PROBE = "pid$target:cramped:cramped:entry"

    def setUp(self):
        self.program = str(self.folder / "cramped")
        subprocess.run(["gcc", "-x", "assembler", "-", "-o", self.program], input=self.CODE, text=True, check=True, stderr=subprocess.DEVNULL)

    def placed(self, prefix, *options):  # the placement by run -v and by list -v
        run = self.run_as(prefix, "run", "-q", "-v", *options, "-n", f"{self.PROBE} {{ @ = count(); }} tick-1s {{ exit(0); }}", "-c", self.program)
        listed = self.run_as(prefix, "list", "-v", *options, self.PROBE, "-c", self.program)
        return re.search(r"cramped:entry: (.*)", run.stderr)[1] if "cramped:entry: " in run.stderr else run.stderr, re.search(r"\t((?:no )?backend.*)", listed.stdout)[1]

    def test_no_instrument_is_named_if_none_is_left(self):
        for prefix in (as_user(), as_user("sys_ptrace")):
            for options in ([], ["-x", "backend=agent"]):
                run, listed = self.placed(prefix, "-x", "breakpoints=off", *options)
                self.assertRegex(run, r"^no backend; not agent: .*; not uprobe: .*CAP_BPF and CAP_PERFMON")
                self.assertRegex(listed, r"^no backend; not agent: .*; not uprobe: BPF needs CAP_BPF and CAP_PERFMON$")

    def test_a_listing_names_no_uprobe_that_is_not_permitted(self):
        self.assertRegex(self.placed(as_user(), "-x", "backend=uprobe")[1], r"^no backend; not agent: -x backend=uprobe; not uprobe: BPF needs CAP_BPF and CAP_PERFMON")

    def test_breakpoints_are_named_where_they_are_used(self):
        for line in self.placed(as_user()) if self.users_may else ():
            self.assertRegex(line, r"^backend local \(breakpoint\), engine interp; not agent: .*; not uprobe: BPF needs")

    @unittest.skipUnless(os.geteuid() == 0, "needs root")
    def test_uprobes_are_named_where_they_are_used(self):
        for options in ([], ["-x", "breakpoints=off"]):
            for line in self.placed([], "-x", "backend=agent", *options):
                self.assertRegex(line, r"^backend local \(uprobe\), engine interp; not agent: ")


class Endings(Unprivileged):
    def test_a_process_that_exits_while_it_starts_threads(self):
        for turn in range(20):
            command = f"{self.copy(program('hostile'))} quits {turn * 1500}"
            result = self.traced("-n", "pid$target:hostile:take:entry { @ = count(); }", "-c", command)
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_the_last_thread_is_lent_to_an_agent(self):
        """It stands at a breakpoint when the agent looks at libgcc, which the end of the first thread loads."""
        script = "pid$target:hostile:take:entry, pid$target:hostile:tiny:entry { @[probefunc] = count(); }"
        command = f"{self.copy(program('hostile'))} leaderless 3000"
        result = self.run_as(self.prefix, "run", "-q", "-x", "backend=agent", "-n", script, "-c", command)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"take +3000\n +tiny +3000\n")

    def start(self, calls, program=None):
        target = subprocess.Popen([*self.prefix, program or self.looper, str(calls), "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(target.communicate)
        self.assertEqual(target.stdout.readline(), "ready\n")
        return target

    def trace(self, target, clauses):
        """dvm on the target, with all its probes on."""
        tracer = subprocess.Popen([*self.prefix, self.dvm, "run", "-q", "-x", "backend=breakpoint", "-x", "switchrate=5ms", "-n",
                                   'BEGIN { printf("on\\n"); } ' + clauses, "-p", str(target.pid)],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENV)
        self.assertEqual(tracer.stdout.readline(), "on\n")
        self.assertEqual(tracer_of(target.pid), tracer.pid)
        return tracer

    def kill_once_fired(self, tracer):
        while (line := tracer.stdout.readline()) != "fired\n":
            self.assertEqual(line, "\n")
        tracer.kill()
        tracer.communicate()

    def test_a_killed_dvm_leaves_nothing(self):
        clauses = 'pid$target:looper:func:entry, pid$target:looper:func:return { printf("fired\\n"); }'
        for _ in range(5):
            target = self.start(20000)
            tracer = self.trace(target, clauses)
            target.stdin.write("go\n")
            target.stdin.flush()
            self.kill_once_fired(tracer)
            out, _ = target.communicate(timeout=PATIENCE)
            self.assertEqual(target.returncode, 0)
            self.assertIn("ns/call", out)

    def test_a_killed_dvm_leaves_system_calls_alone(self):
        for _ in range(5):
            target = subprocess.Popen([*self.prefix, "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.addCleanup(target.communicate)
            self.assertTrue(dvmtest.eventually(lambda: pathlib.Path(f"/proc/{target.pid}/comm").read_text() == "cat\n"))
            tracer = self.trace(target, 'syscall::: /pid == $target/ { printf("fired\\n"); }')
            target.stdin.write("one\n" * 1000)
            target.stdin.flush()
            self.kill_once_fired(tracer)
            out, _ = target.communicate("two\n", timeout=PATIENCE)
            self.assertEqual((target.returncode, out), (0, "one\n" * 1000 + "two\n"))

    def test_probes_are_off_when_dvm_ends(self):
        target = self.start(1000)
        tracer = self.trace(target, "pid$target:looper:func:entry { @ = count(); }")
        tracer.send_signal(2)
        _, errors = tracer.communicate(timeout=PATIENCE)
        self.assertEqual(tracer.returncode, 0, errors)
        self.assertEqual(tracer_of(target.pid), 0)
        target.communicate("go\n", timeout=PATIENCE)
        self.assertEqual(target.returncode, 0)

    def test_a_thread_that_waits_is_let_go_before_end(self):
        """It may take a signal or start a thread while dvm is busy with the results."""
        target = self.start(1)
        command = f'BEGIN {{ exit(0); }} pid$target:looper:func:entry {{ }} END {{ system("grep TracerPid /proc/{target.pid}/status"); }}'
        result = self.traced("-w", "-n", command, "-p", str(target.pid))
        self.assertEqual((result.stdout.split(), result.returncode), (["TracerPid:", "0"], 0), result.stderr)

    def test_new_threads_are_let_go_before_end(self):
        """They are traced before they stop for the first time, and their parent says so before or behind that."""
        hostile = self.copy(program("hostile"))
        for _ in range(10):
            target = subprocess.Popen([*self.prefix, hostile, "threads", "1000000", "4"])
            self.addCleanup(target.wait)
            self.addCleanup(target.kill)
            command = f'BEGIN {{ exit(0); }} pid$target:hostile:take:entry {{ }} END {{ system("cat /proc/{target.pid}/task/*/status"); }}'
            result = self.traced("-w", "-n", command, "-p", str(target.pid))
            tracers = re.findall(r"State:\s*([^ZX]) .*?TracerPid:\s*(\d+)", result.stdout, re.S)
            self.assertEqual({tracer for _, tracer in tracers}, {"0"}, f"{tracers} {result.stderr}")
            target.kill()

    def test_a_write_that_waits_is_not_cut(self):
        writes = "import os; os.write(2, b'%d' % os.write(1, b'x' * 300000))"
        target = subprocess.Popen([*self.prefix, sys.executable, "-S", "-c", writes], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(target.communicate)
        self.assertTrue(dvmtest.eventually(lambda: pathlib.Path(f"/proc/{target.pid}/syscall").read_text().startswith("1 ")))
        result = self.traced("-n", "BEGIN { exit(0); } pid$target:libc:getpid:entry { }", "-p", str(target.pid))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(target.communicate(timeout=PATIENCE)[1], b"300000")

    def test_a_system_call_that_waits_at_a_breakpoint_holds_nobody_up(self):
        """Behind it the thread gets a signal that has come before it. Another thread has to go on for it to end."""
        script = "pid$target:urged:take:entry, pid$target:urged:give:entry { @[probefunc] = count(); }"
        rows, result = self.counted("-n", script, "-c", f"{self.copy(program('urged'))} 200")
        self.assertIn("200 taken", result.stdout)
        self.assertEqual(rows["give"], "200")
        self.assertGreaterEqual(int(rows["take"]), 200)

    def urged(self, urge, *signals, clauses="pid$target:urged:take:entry { @ = count(); }"):
        """A target that is let go, or stopped, while a thread takes a single step over a system call that waits."""
        target = self.start(1, urge)
        tracer = self.trace(target, clauses)
        target.stdin.write("\n")
        target.stdin.flush()
        self.assertEqual(target.stdout.readline(), "urged\n")
        for one in signals:
            target.send_signal(one)
            self.assertTrue(dvmtest.eventually(lambda: state_of(target.pid) == ("t" if one == signal.SIGSTOP else "S")))
        tracer.send_signal(2)
        _, errors = tracer.communicate(timeout=PATIENCE)
        out, _ = target.communicate("\n", timeout=PATIENCE)
        self.assertEqual((target.returncode, out, tracer.returncode), (0, "1 taken\n", 0), errors)
        return errors

    def test_a_thread_that_steps_over_a_system_call_is_let_go(self):
        """The SIGTRAP of the step is not the program's."""
        for _ in range(12):
            self.urged(self.copy(program("urged")))

    def test_firings_of_a_system_call_that_is_a_step_are_drops(self):
        urge, clauses = self.copy(program("urged")), "pid$target:urged:take:entry, syscall::read: /pid == $target/ { @ = count(); }"
        self.assertTrue(dvmtest.eventually(lambda: "drop" in self.urged(urge, clauses=clauses), patience=60))  # a matter of luck

    def test_a_process_is_stopped_while_a_thread_steps_over_a_system_call(self):
        for _ in range(12):
            self.urged(self.copy(program("urged")), signal.SIGSTOP, signal.SIGCONT)

    def test_a_process_that_becomes_another_program_goes_on(self):
        result = self.traced("-n", "pid$target:libc:write:entry { @ = count(); }", "-c", "sh -c 'echo one; exec echo two'")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.split(), ["one", "two", "1"])
        self.assertIn("executed another program", result.stderr)

    def test_signals_and_stops_pass(self):
        script = "trap 'echo caught' USR1; kill -USR1 $$; (while kill -CONT $$; do :; done) 2>/dev/null & kill -STOP $$; echo after"
        result = self.traced("-n", "pid$target:libc:write:entry { @ = count(); }", "-c", f'sh -c "{script}"')
        self.assertEqual(result.stdout.split(), ["caught", "after", "2"], result.stderr)


class Refusal(Unprivileged):
    def refused(self, text, *options):
        result = self.run_as(as_user(), "run", "-q", *options, "-n", text, "-c", f"{self.looper} 1")
        self.assertEqual(result.returncode, 1)
        return result.stderr

    def test_tracepoints_name_the_capabilities(self):
        for text in ["profile-997 { @ = count(); }", "sched:::on-cpu { @ = count(); }", "proc:::exec { @ = count(); }"]:
            errors = self.refused(text)
            for word in ["CAP_BPF", "CAP_PERFMON", "CAP_SYS_PTRACE", "setcap cap_bpf,cap_perfmon+ep", self.dvm]:
                self.assertIn(word, errors)

    def test_breakpoints_follow_no_forks(self):
        words = "-x", "backend=breakpoint", "-x", "followfork"
        text = "pid$target:looper:func:entry { @ = count(); }"
        self.assertRegex(self.refused(text, *words), r"breakpoints do not follow forks\n$")
        if not dvmtest.missing_privilege():  # uprobes, which could follow, do not stand in for them
            self.assertRegex(self.run_as((), "run", "-q", *words, "-n", text, "-c", f"{self.looper} 1").stderr,
                             r"breakpoints do not follow forks\n$")

    def test_breakpoints_that_are_switched_off(self):
        """An agent does not take the return of a function that leaves by a jump to another one whose stack is unknown."""
        text = "pid$target:a.out:tail:return { @ = count(); }"
        result = self.run_as(as_user(), "run", "-q", "-x", "breakpoints=off", "-n", text, "-c", self.copy(program("returns")))
        self.assertEqual(result.returncode, 1)
        self.assertIn("it leaves by a jump to another function", result.stderr)
        self.assertIn("CAP_BPF", self.refused("syscall::openat:entry /pid == $target/ { @ = count(); }", "-x", "breakpoints=off"))

    def test_more_places_than_registers(self):
        if not self.users_may:
            dvmtest.skip_or_fail(self, "users have no breakpoints here")
        else:
            before = os.times().children_user
            self.assertRegex(self.refused("pid$target:libc::entry { @ = count(); }", "-x", "backend=breakpoint"),
                             r"\d+ places of process \d+ would be probed, .* for 4; with CAP_BPF and CAP_PERFMON there is no such limit")
            self.assertLess(os.times().children_user - before, 3)  # the file is not read again for each place

    def test_two_capabilities_do(self):
        if reason := dvmtest.missing_privilege():
            dvmtest.skip_or_fail(self, reason)
        result = self.run_as(as_user("bpf", "perfmon"), "run", "-q", "-n", "pid$target:looper:func:entry { @ = count(); }", "-c",
                             f"{self.looper} 50")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("without BPF", result.stderr)
        self.assertRegex(result.stdout, r"\n +50\n")


del Unprivileged  # is no test by itself

if __name__ == "__main__":
    unittest.main()
