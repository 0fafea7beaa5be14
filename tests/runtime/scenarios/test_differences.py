"""Statements of docs/dtrace-differences.md, row by row: each row is run here, or ELSEWHERE says where it is tested, or why it cannot be."""

import pathlib
import os
import re
import subprocess
import tempfile
import unittest

import dvmtest

PAGE = dvmtest.ROOT / "docs/dtrace-differences.md"
MANY = 1000000000  # calls of looper: it runs until dvm ends it
IN_TIME = ("-n", "tick-30s { exit(1); }")
LOOPER = ["-c", dvmtest.program("looper") + " 1"]

# How the row begins; a program that BEGIN runs, with declarations before "BEGIN"; what it prints.
BEGIN = (
    ("A key is cut", "a[x + 1] = 7; y = x + 1; trace(a[y]);", "7"),
    ("A cast to the same type", "trace((int)(x + 1) < 0);", "1"),
    ("`>>` of a negative constant", "y = -8; printf(\"%d %d\", -8 >> 1, y >> 1);", "-4 -4"),
    ("The count of a shift", "y = 65; printf(\"%d %d %d\", 1 << 65, 1 << y, -8 >> -62);", "2 2 -2"),
    ("In a character constant", "printf(\"%x %x %x\", 'ab', '\\'', '\\?');", "6162 5c27 5c3f"),
    ("A `_Bool`", "_Bool b; BEGIN b = 2; printf(\"%d %d\", b, b + 1);", "1 2"),
    ("The keys of `a[i++]", "int e[int]; BEGIN i = 0; e[i++] += 1; printf(\"%d %d\", i, e[0]);", "1 1"),
    ("`sizeof` includes the padding", "struct s { int a; char b; }; BEGIN trace(sizeof (struct s));", "8"),
    ("`if` and `else`", "if (x > 1) trace(\"yes\"); else trace(\"no\");", "yes"),
    ("A string variable that is NULL", "self string w; string a[int]; BEGIN trace(self->w); trace(a[3]); g = strchr(\"a\", 'b'); trace(g); trace(\"|\");", "|"),
    ("A string variable that is NULL", "self string w; BEGIN trace(strlen(self->w));", "fault 1 0"),
    ("A string variable that is NULL", "self string w; BEGIN self->w = NULL; trace(self->w[2]);", "fault 1 2"),
    ("A string variable that is NULL", "self string w; BEGIN trace(substr(self->w, 1));", "fault 1 0"),
    ("A pointer may stand", "this->p = (int *)alloca(4); trace(lltostr((uint64_t)this->p) == lltostr(this->p));", "1"),
    ("A pointer may stand", "struct o { int x; }; translator struct o < int *P > { x = *P; }; BEGIN this->p = (int *)alloca(4); *this->p = 6; "
                            "trace(xlate <struct o> ((uint64_t)this->p).x);", "6"),
    ("The memory that `alloca()`", "this->p = (int *)alloca(8); *this->p = 5; } BEGIN { trace(*this->p);", "5"),
    ("`raise()` and `stop()`", "raise(10);", "fault 3 0"),
    ("`raise()` and `stop()`", "stop();", "fault 3 0"),
    ("`cleanpath(", "printf(\"%s %s %s\", cleanpath(\"/a/b/../\"), cleanpath(\"a/..\"), cleanpath(\"a/../b\"));", "/a . b"),
    ("`inet_ntoa6()` and", "this->a = (uint16_t *)alloca(16); this->a[0] = 0x100; this->a[2] = 0x300; this->a[3] = this->a[4] = this->a[5] = this->a[6] = this->a[7] = "
                           "0x400; printf(\"%s\", inet_ntoa6((in6_addr_t *)this->a));", "1:0:3:4:4:4:4:4"),
    ("`curcpu` points", "this->c = curcpu; } BEGIN { printf(\"%d %d\", this->c != NULL, this->c->cpu_id == cpu);", "1 1"),
    ("`trace()` dumps the bytes", "struct s { char t[4]; } s; BEGIN s.t[0] = 'a'; s.t[1] = 'b'; trace(s);", re.compile(r"0: 61 62 00 00 +ab\.\.")),
    ("`trace()` prints every string", "trace(\"a\\001b\");", "a\001b"),
    ("`pr_addr`", "printf(\"%d %d\", (long)curlwpsinfo->pr_addr == tid, (long)curpsinfo->pr_addr == pid);", "1 1"),
    ("`pr_wchan`", "printf(\"%d %d %d %d\", (long)curlwpsinfo->pr_wchan, curlwpsinfo->pr_stype, curpsinfo->pr_wstat, curpsinfo->pr_nzomb);", "0 0 0 0"),
    ("`pr_taskid`", "printf(\"%d %d %d %d\", curpsinfo->pr_taskid, curpsinfo->pr_projid, curpsinfo->pr_poolid, curpsinfo->pr_contract);", "0 0 0 0"),
    ("The kernel's memory", "trace(sizeof (struct vmlinux`task_struct) > 1000);", "1"),
    ("`struct s { };`", "struct s { }; BEGIN trace(sizeof (struct s));", "0"),
    ("`__attribute__` with", "struct s { char c; int i; } __attribute__((packed)); BEGIN trace(sizeof (struct s));", "5"),
    ("A string as a key", "@[\"a\\tb\\001\"] = count();", re.compile(r"^a\tb\\001 +1$")),
    ("`procsystime`", "self->start = 0; self->start = 0x100000001; trace(self->start);", "1"),
    ("`php_flowtime.d`", "self int last; BEGIN self->last = 0x100000001; trace(self->last);", "1"),
    ("`brk.d`", "self int endds; BEGIN self->endds = 0x7f0000001000; trace(0x7f0000001000 - self->endds);", "139637976727552"),
    ("Negative values", "@ = sum(-9); normalize(@, 2);", "-4"),
    ("`%-08d` is", "printf(\"[%-08d][%0-8d][%08d]\", 7, 7, 7);", "[7       ][7       ][00000007]"),
    ("`curthread`, the pointers", "trace((uintptr_t)curthread == tid && curthread->t_tid == tid);", "1"),
    ("`arg2` of `ERROR`", "trace(1); trace(*(int *)8); } ERROR { printf(\"|%d|\", arg2);", "|1|fault 1 8"),
    ("`arg2` of `ERROR`", "x = 0; trace(1 / x); } ERROR { printf(\"|%d|\", arg2);", "|0|fault 4 0"),
    ("`arg2` of `ERROR`", "} BEGIN / *(int *)8 / { } ERROR { printf(\"|%d|\", arg2);", "|0|fault 1 8"),
    ("`` `avenrun ``", "this->d = (int64_t)`hp_avenrun[0] - 32 * (int64_t)`avenrun[0]; trace(this->d > -16384 && this->d < 16384);", "1"),
    ("`ipl` is 0", "trace(ipl);", "0"),
    ("`pr_taskid`", "printf(\"%d %d\", $taskid, $projid);", "0 0"),
    ("`tick-N` fires in dvm", "} tick-1ms { printf(\"%d %d\", pid == $pid, execname == \"dvm\");", "1 1"),
    ("`speculate()` with an id", "speculate(77); trace(1); } BEGIN {", "fault 3 0"),
)

# The same; what dvm says when it refuses the program, or one that names the probe.
REFUSED = (
    ("The kernel's memory", "BEGIN { trace(curthread->t_lwp); }", "t_lwp"),
    ("The kernel's memory", "BEGIN { trace(`lbolt); }", "timestamp counts nanoseconds"),
    ("The kernel's memory", "BEGIN { trace(`jiffies); }", "failed to resolve `jiffies"),
    *(("Of a thread other than", f"sched:::enqueue {{ trace(args[{arg}]->{member}); }}", f"does not define conversion for member: {member}")
      for arg, member in ((0, "pr_state"), (0, "pr_flag"), (0, "pr_clname"), (1, "pr_pgid"), (1, "pr_euid"), (2, "cpu_chip"), (2, "cpu_info"))),
    ("There are [limits]", "BEGIN { a[" + ", ".join("1" * 25) + "] = 1; }", "too many keys: at most 24 are possible"),
    *(("`mutex_owned()`", f"BEGIN {{ {call}; }}", f"{re.findall('[a-z_]+', call.removeprefix('trace('))[0]}.* is not available in dvm: ")
      for call in ("mutex_owned(0)", "mutex_type_adaptive(0)", "rw_read_held(0)", "rw_iswriter(0)", "msgsize(0)", "msgdsize(0)", "ddi_pathname(0, 0)", "getf(0)", "d_path(0)",
                   "pcap(0, 0)", "breakpoint()", "panic()", "trace(regs[0])", "trace(vmregs[0])")),
    ("`lwpsinfo_t` has no", "BEGIN { trace(curlwpsinfo->pr_syscall); }", "pr_syscall"),
    *(("`fbt`, `ip`", name + ":::", f"dvm has no {name} provider, .*(?:sdt:::|syscall|profile)")
      for name in ("fbt", "ip", "tcp", "udp", "mib", "lockstat", "cpc", "nfsv3")),
    ("`plockstat`", f"plockstat{os.getpid()}:::", "dvm has no plockstat provider, .*dvm tool plockstat"),
    *(("`io:::wait-start`", name, "the kernel has no tracepoint for " + name)
      for name in ("io:::wait-start", "proc:::fault", "sched:::change-pri", "vminfo:::maj_fault")),
)

# The row of an option; settings, and whether dvm takes them.
OPTIONS = (
    ("jstackstrsize", ["jstackstrsize=3"], True),
    ("dofstashpath", ["dofstashpath=/run", "ldpath=x", "objcopypath=x", "linkmode=static", "linktype=dof", "strip", "udefs"], True),
    ("bpflog", ["bpflog", "lockmem=1m", "nusdtprobes=5", "preallocate=1k", "printsize=3", "sysslice", "useruid=3"], True),
    ("switchrate", ["switchrate=10", "aggrate=0", "statusrate=0hz"], True),
    ("kdefs", ["kdefs", "knodefs", "pgmax=2"], True),
    ("iregs", ["iregs=3", "tregs=3", "btfpath=x", "ctypes=x", "dtypes=x", "oformat=json", "pcapsize=3", "zone=z"], False),
)

ELSEWHERE = {
    "With uprobes, clauses run in dvm": "a matter of time; scenarios/test_destructive.py",
    "`trace()` and keys show the value": "variables/tst.floats.d",
    "`uregs[]` of": "variables/tst.uregs.d",
    "`jstack()` names Java": "needs a JVM",
    "`ustack(n)` in an expression": "scenarios/test_stacks.py",
    "`args[]` of a `usdt`": "scenarios/test_header.py",
    "`args[2]` of `io`": "scenarios/test_io.py",
    "In `args[0]` and `args[1]` of `io`": "scenarios/test_io.py",
    "Samples of `profile-N`": "unit/instrument/timer_test.cpp",
    "A second Ctrl-C": "scenarios/test_endings.py",
    "Without root": "scenarios/test_unprivileged.py",
    "Of the faults of one kind": "faults/tst.many.d",
    "Drops of dynamic variables": "runtime/buffer/drops.def has no such drop",
    "`drops` includes": "scenarios/test_returns.py",
    "In a container, probes": "scenarios/test_containers.py",
    "On a terminal": "scenarios/test_names.py",
    "Widths and precisions": "unit/runtime/printf_test.cpp",
    "`python*:::`": "scenarios/test_targets.py",
    "`-G` makes": "scenarios/test_dtrace.py",
    "`filebyproc.d`": "a published script, which is not kept here",
    "`soaccept.d`": "a published script, which is not kept here",
    "`ldapsyslog.d`": "depends on the C library",
    "`threaded.d`": "a published script, which is not kept here",
    "`iosnoop`": "a published script, which is not kept here",
    "`crash.d`": "a published script, which is not kept here",
    "`guess.d`": "a published script, which is not kept here",
    "`fsflush.d`": "a published script, which is not kept here",
    "`mmap.d`": "a published script, which is not kept here",
    "scripts that name `pread`": "depends on the C library",
}
HERE = ("`->`, `*` and `[]`", "`syscall` probes do not", "`fds[N]`", "`copyinstr(a, n)`", "`errno` is 0", "`scratchsize`", "All errors of a script", "Faults name", "`-A`, `-a`", "`-c` treats", "`probefunc` of a C++",
        "A process that did not succeed", "A warning says", "A variable index of an array", "`f_flag`", "In `BEGIN`, `END` and `tick-N`, memory",
        "`arg0` of a `pid` return", "`vtimestamp` includes", "System calls of 32-bit programs", "At `sched:::on-cpu`")

# Number 20 is getpid() for a 32-bit program, and writev() otherwise.
CALLS_OF_32_BITS = """
int main(void) {
  long result;
  for (int i = 0; i < 100; i++) __asm__ volatile("int $0x80" : "=a"(result) : "0"(20L) : "memory", "r8", "r9", "r10", "r11");
  return result <= 0;
}
"""


def rows():
    """The first cells of the tables, without their headings."""
    lines = PAGE.read_text().splitlines()
    return [line.split(" | ")[0].lstrip("| ") for line, before in zip(lines, ["", *lines])
            if line.startswith("| ") and before.startswith("|") and not line.startswith("|---")]


def run_begin(text):
    declarations, found, body = text.rpartition("; BEGIN ")
    program = (declarations + ";" if found else "") + "int x; BEGIN { x = 2147483647; " + (body if found else text) + " exit(0); }"
    return dvmtest.dvm("run", "-q", "-w", "-n", program + ' ERROR { printf("fault %d %d", arg4, arg5); exit(1); }')


class Page(unittest.TestCase):
    def test_every_row_is_tested_or_has_a_reason(self):
        known = [case[0] for case in (*BEGIN, *REFUSED)] + ["`" + case[0] for case in OPTIONS] + [*ELSEWHERE, *HERE]
        self.assertEqual([], [row for row in rows() if not row.startswith(tuple(known))])
        self.assertEqual([], [name for name in known if not any(row.startswith(name) for row in rows())])


class Language(unittest.TestCase):
    def test_programs(self):
        for row, text, wanted in BEGIN:
            with self.subTest(row, text=text):
                out = run_begin(text).stdout.strip("\n ")
                self.assertRegex(out, wanted) if isinstance(wanted, re.Pattern) else self.assertEqual(wanted, out)

    def test_a_time_that_is_cut(self):
        ran = dvmtest.dvm("run", "-q", "-n", "BEGIN { t = 0; t = timestamp; t = timestamp; u = timestamp; exit(0); }")
        self.assertEqual((0, 1), (ran.returncode, ran.stderr.count("warning:")))
        self.assertIn("warning: in action list: timestamp is cut to the type of t: int\n", ran.stderr)

    def test_refused(self):
        for row, text, wanted in REFUSED:
            with self.subTest(row, text=text):
                ran = dvmtest.dvm("run", "-n", text)
                self.assertEqual(1, ran.returncode)
                self.assertRegex(ran.stderr, wanted)


class Options(unittest.TestCase):
    def test_taken_or_refused(self):
        for row, settings, is_taken in OPTIONS:
            for setting in settings:
                with self.subTest(row, setting=setting):
                    ran = dvmtest.dvm("run", "-x", setting, "-n", "BEGIN { exit(0); }")
                    self.assertEqual(0 if is_taken else 1, ran.returncode, ran.stderr)

    def test_scratch_without_the_option(self):
        self.assertEqual("1", dvmtest.dvm("run", "-q", "-n", "BEGIN { trace(alloca(60000) != NULL); exit(0); }").stdout.strip())


class CommandLine(unittest.TestCase):
    def test_all_errors_are_printed(self):
        errors = dvmtest.dvm("run", "-n", "BEGIN { trace(nobody); } END { trace(nowhere); }").stderr
        self.assertRegex(errors, r"(?s)nobody.*\^.*nowhere.*\^")

    def test_errors_are_in_the_order_of_lines(self):
        errors = dvmtest.dvm("run", "-n", "BEGIN / nobody / { trace(1, 2); }").stderr
        self.assertRegex(errors, r"(?s)in predicate: failed to resolve nobody.*in action list: trace\( \) prototype mismatch")

    def test_faults_name_an_offset_of_dif(self):
        self.assertRegex(dvmtest.dvm("run", "-n", "BEGIN { trace(*(int *)0); } BEGIN { exit(0); }").stderr, r"at DIF offset \d+")

    def test_refused_options(self):
        for option, reason in (("-A", "-A and -a are not possible"), ("-a", "-A and -a are not possible"), ("-32", "-32 is not possible")):
            with self.subTest(option):
                result = dvmtest.dvm("run", option, "-n", "BEGIN { exit(0); }")
                self.assertEqual((1, True), (result.returncode, reason in result.stderr), result.stderr)

    def test_words_of_a_command_may_be_quoted(self):
        self.assertEqual("a  b\n\n", dvmtest.dvm("run", "-q", "-n", "END { }", "-c", "echo 'a  b'").stdout)


class Live(dvmtest.PrivilegedTest):
    def run_on_looper(self, text, *options, count=1):
        command = ["-c", dvmtest.program("looper") + f" {count}"]
        return dvmtest.dvm("run", "-q", *options, "-n", "pid$target:looper:func:entry { " + text + " }", *command).stdout

    def test_pointers_lead_into_the_program(self):
        self.assertIn("<hD>", self.run_on_looper('printf("<%c%c>", *(char *)arg0, ((char *)arg0)[6]);'))

    def test_an_index_beyond_an_array_is_read(self):
        declaration = ["-n", "struct pair { char text[2]; };"]
        out = self.run_on_looper('this->i = 6; printf("<%c>", ((struct pair *)arg0)->text[this->i]); exit(0);', *declaration, *IN_TIME, count=MANY)
        self.assertIn("<D>", out)
        ran = dvmtest.dvm("run", *declaration, "-n", "pid$target:looper:func:entry { trace(((struct pair *)arg0)->text[6]); }", *LOOPER)
        self.assertIn("index outside array bounds: 6, max is 1", ran.stderr)

    def test_flags_of_a_file_are_those_of_open(self):
        text = ("syscall::read:entry /pid == $target && fds[arg0].fi_pathname == \"/dev/null\"/ { "
                "printf(\"<%d>\", curthread->t_procp->p_user.u_finfo.fi_list[arg0].uf_file->f_flag & 3); }")
        self.assertIn("<0>", dvmtest.dvm("run", "-q", "-n", text, "-c", "cat /dev/null").stdout)

    def test_a_tick_reads_the_program(self):
        out = self.run_on_looper("p = arg0; }  tick-1ms /p/ { printf(\"<%c>\", *(char *)p); exit(0);", "-n", "uintptr_t p;", *IN_TIME, count=MANY)
        self.assertIn("<h>", out)

    def test_a_uretprobe_knows_no_offset(self):
        command = ["-c", dvmtest.program("returns")]
        for function, wanted in (("two_ways", "<7>"), ("unknown_ways", "<0>")):
            with self.subTest(function):
                text = f'pid$target:a.out:{function}:return {{ printf("<%x>", arg0); exit(0); }}'
                self.assertIn(wanted, dvmtest.dvm("run", "-q", "-x", "return=uretprobe", "-n", text, *command).stdout)

    def test_copyinstr_counts_the_nul(self):
        self.assertIn("<he>", self.run_on_looper('printf("<%s>", copyinstr(arg0, 3));'))

    def test_errno_is_the_return_probes(self):
        text = ("syscall::openat:return /pid == $target && errno/ { printf(\"<%d \", errno); self->failed = 1; } "
                "pid$target:libc.so.6:__errno_location:entry /self->failed/ { printf(\"%d>\", errno); exit(0); }")
        self.assertIn("<2 0>", dvmtest.dvm("run", "-q", "-n", text, "-c", "cat /nonexistent").stdout)

    def test_a_thread_that_is_put_on_a_cpu_has_a_stack_since_6_15(self):
        text = 'sched:::on-cpu /pid == $target && execname == "looper" && n++ > 2/ { ustack(); printf("end"); exit(0); }'
        out = dvmtest.dvm("run", "-q", "-n", text, "-n", IN_TIME[1], "-c", dvmtest.program("looper") + f" {MANY}").stdout
        release = tuple(int(number) for number in re.findall(r"\d+", os.uname().release)[:2])
        self.assertEqual((release >= (6, 15), True), ("looper`main" in out, "end" in out), out)

    def test_a_cpu_time_includes_traps(self):
        untraced = float(subprocess.run([dvmtest.program("looper"), "100000"], capture_output=True, text=True, check=True).stdout.split()[0])
        out = self.run_on_looper("@ = avg(vtimestamp - self->before); self->before = vtimestamp;", "-n", "self uint64_t before; "
                                 "pid$target:looper:func:entry /!self->before/ { self->before = vtimestamp; }", "-x", "backend=uprobe", count=20000)
        self.assertGreater(int(out.split()[-1]), 3 * untraced)

    def test_calls_of_32_bits_do_not_fire(self):
        with tempfile.TemporaryDirectory() as folder:
            command = folder + "/calls"
            subprocess.run([os.environ.get("DVM_CC", "cc"), "-x", "c", "-", "-o", command], input=CALLS_OF_32_BITS, text=True, check=True)
            if subprocess.run([command]).returncode != 0:
                self.skipTest("the kernel has no such calls")
            text = "syscall::writev:, syscall::getpid:, syscall::exit_group:entry /pid == $target/ { @[probefunc] = count(); }"
            self.assertEqual(["exit_group", "1"], dvmtest.dvm("run", "-q", "-n", text, "-c", command).stdout.split())

    def test_calls_of_dvm_itself_do_not_fire(self):
        out = dvmtest.dvm("run", "-q", "-n", 'syscall:::entry /pid == $pid || pid == $target/ { @[pid == $target] = count(); }', "-c", "true").stdout
        self.assertRegex(out, r"^\s*1\s+\d+\s*$")

    def test_files_are_known_by_number_only(self):
        self.assertIn("<unknown>", self.run_on_looper('printf("<%s>", fds[i].fi_pathname);', "-n", "BEGIN { i = 2; }"))
        self.assertNotIn("unknown", self.run_on_looper('printf("<%s>", fds[2].fi_pathname);'))

    def test_an_offset_is_no_file(self):
        ran = dvmtest.dvm("run", "-q", "-n", "pid$target:looper:func:return { trace(fds[arg0].fi_name); }", *LOOPER)
        self.assertRegex(ran.stderr, r"values? of fds\[\] .* an argument or result of the function, .*\(arg0 of a return probe is an offset\)")

    def test_names_of_cpp_are_demangled(self):
        command = ["-c", dvmtest.program("classes")]
        for options, wanted in ([], r"\w+(::|\()"), (["-x", "demangle=off"], r"\b_Z\w+"):
            with self.subTest(options):
                out = dvmtest.dvm("run", "-q", *options, "-n", "pid$target:a.out:_Z*:entry { @[probefunc] = count(); }", *command).stdout
                self.assertRegex(out, wanted)

    def test_a_process_that_fails_is_reported(self):
        self.assertRegex(dvmtest.dvm("run", "-n", "BEGIN", "-c", "sh -c 'exit 3'").stderr, r"pid \d+ exited with status 3")


if __name__ == "__main__":
    unittest.main()
