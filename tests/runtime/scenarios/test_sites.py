"""Places of entry probes: checked for every function of some libraries against a disassembly that is not dvm's, and, for
programs that run, by what is seen there and at the first instruction."""

import bisect
import os
import re
import subprocess
import tempfile
import unittest

import dvmtest
from dvmtest import dvm, program

ARGUMENTS = re.compile(r"%(r?[ds]i|[ds]il|e[ds]i|[re]?[cd]x|[cd][lh]|r[89][dwb]?|[re]?bp|bpl)$")
JUMP = re.compile(r"^(?:notrack |bnd )*(?:j[a-z]+|call|loop[a-z]*|xbegin)\s+([0-9a-f]+)")


def disassembly(path):
    """Address to text of every instruction, and the sorted addresses that a branch, call or symbol leads to."""
    out = subprocess.run(["objdump", "-d", "--no-show-raw-insn", "-w", path], capture_output=True, text=True, check=True).stdout
    code, targets = {}, set()
    for line in out.splitlines():
        address, colon, text = line.partition(":\t")
        if not colon:
            continue
        at = int(address, 16)
        code[at] = text.strip()
        jump = JUMP.match(code[at])
        if jump:
            targets.add((int(jump.group(1), 16)))
    return code, sorted(targets)


def moved_sites(text, what):
    return [(int(at, 16) - int(moved, 16), int(at, 16))
            for at, moved in re.findall(rf"\t{what}: at 0x([0-9a-f]+) of the file, 0x([0-9a-f]+) after the entry", text)]


def written(text):
    """The operand that an instruction in AT&T's syntax writes."""
    return text.split("#")[0].rstrip().rsplit(",", 1)[-1].split()[-1]


class Sites(dvmtest.PrivilegedTest):
    def check(self, description, command, path):
        listing = dvm("list", "-v", description, "-c", command)
        self.assertEqual(listing.returncode, 0, listing.stderr)
        sites = moved_sites(listing.stdout, "site")
        self.assertGreater(len(sites), 50)
        silent = moved_sites(listing.stdout, "site if no clause reads arguments")
        self.assertGreater(len(silent), 20)
        code, targets = disassembly(path)
        # Sites are offsets in the file; where the segment of code lies says what that is as an address.
        segments = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=True).stdout
        offset, address = (int(x, 16) for x in re.search(r"LOAD\s+(\S+) (\S+) \S+ \S+ \S+ R E", segments).groups())
        for entry, site in sites + silent:
            self.check_site(code, targets, entry - offset + address, site - offset + address, (entry, site) in sites)

    def check_site(self, code, targets, entry, site, tells):
        where = f"{entry:x} to {site:x}"
        self.assertIn(site, code, where)
        first = bisect.bisect_right(targets, entry)
        self.assertFalse(first < len(targets) and targets[first] <= site, f"{where}: something jumps there")
        for at in range(entry, site):
            if at in code:
                refused = r"^(j|call|ret|rep|lock|syscall|leave|div|pop)" if at != entry else r"^(j|call|ret|rep|syscall|leave|div|pop)"
                self.assertNotRegex(code[at], refused, where)
                if tells and not code[at].startswith(("cmp", "test", "push", "nop", "endbr")):
                    self.assertNotRegex(written(code[at]), ARGUMENTS, f"{where}: {code[at]}")

    def test_libc(self):
        self.check("pid$target:libc::entry", "/bin/true", "/lib/x86_64-linux-gnu/libc.so.6")

    def test_libstdcxx(self):
        self.check("pid$target:libstdc++::entry", program("classes"), "/lib/x86_64-linux-gnu/libstdc++.so.6")

    def test_bash(self):
        self.check("pid$target:a.out::entry", "/bin/bash -c :", "/bin/bash")


class Firings(dvmtest.PrivilegedTest):
    """The same run is traced with the sites that dvm chooses and with all at the first instruction."""

    def seen(self, option, script, command):
        result = dvm("run", "-q", *option, "-n", script, "-c", command)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("drops", result.stderr)
        # A file without debug symbols has functions without a name, at another address in each run.
        return sorted(re.sub(r"`0x[0-9a-f]+", "`0x", result.stdout).split("\n"))

    def same(self, script, command):
        self.assertEqual(self.seen([], script, command), self.seen(["-x", "site=entry"], script, command))

    def test_counts(self):
        self.same("pid$target:a.out::entry { @[probefunc] = count(); }",
                  "/bin/bash -c 'for i in 1 2 3; do x=${x}a$i; done; f() { echo $1; }; f a | cat'")

    def test_arguments(self):
        self.same("pid$target:sites:site_*:entry { @[probefunc, arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7] = count(); }",
                  program("sites"))

    def test_a_function_that_begins_with_a_lock_prefix(self):
        """The kernel takes no probe on its first instruction."""
        seen = self.seen([], "pid$target:sites:locked_site:entry { @e = sum(arg1 - arg0 + arg2 - arg0); }"
                         "pid$target:sites:locked_site:return { @r = sum(arg1); }", program("sites"))
        self.assertEqual([int(line) for line in seen if line.strip()], [20 * (1 + 2), sum(range(1, 21))])

    def test_each_argument_alone(self):
        """Arguments that no clause reads may have changed at the place of the probe."""
        for n in range(8):
            with self.subTest(argument=n):
                self.same(f"pid$target:sites:site_*:entry {{ @[probefunc, arg{n}] = count(); }}", program("sites"))

    def test_clauses_that_ask_for_different_arguments(self):
        self.same("pid$target:sites:site_*:entry { @[probefunc] = count(); } pid$target:sites:site_*:entry { @b[probefunc, arg2] = count(); }"
                  "pid$target:sites:site_*:entry /arg4 > 7/ { @c[probefunc, arg1] = sum(arg6); }", program("sites"))

    def test_callers(self):
        self.same("pid$target:sites:site_*:entry { @[probefunc, ustack(3)] = count(); }", program("sites"))

    def test_registers_are_those_of_the_entry(self):
        script = "pid$target:sites:site_*:entry { @[probefunc, uregs[R_RAX], uregs[R_RSP] & 15] = count(); }"
        self.same(script, program("sites"))


class Stepped(dvmtest.PrivilegedTest):
    """Instructions that the kernel cannot step as one: a string instruction with a prefix, pushf, and syscall. They are left out."""

    SOURCE = """
        void fill(char *to, long count) { __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(0) : "memory"); }
        long flags(void) { long all; __asm__ volatile("pushfq; pop %0; push %0; popfq" : "=r"(all) : : "cc", "memory"); return all & 256; }
        long call(void) { long all; __asm__ volatile("syscall; mov %%r11, %0" : "=&r"(all) : "a"(39) : "rcx", "r11", "memory"); return all & 256; }
        int main(void) { char bytes[64]; long all = 0; for (int i = 0; i < 10; i++) fill(bytes, 64), all |= flags() | call(); return bytes[0] | all >> 8; }
    """

    def rows(self, function, *options):
        result = dvm("run", *options, "-n", f"pid$target:a.out:{function}: {{ @[probename] = count(); }}", "-c", self.path)
        self.assertNotIn("terminated by", result.stderr)
        return [line.split() for line in result.stdout.splitlines() if line.strip()], result.stderr

    def test_each_is_left_out(self):
        with tempfile.TemporaryDirectory() as folder:
            self.path = os.path.join(folder, "fill")
            build = [os.environ["DVM_CC"], "-O1", "-fno-inline", "-mno-red-zone", "-x", "c", "-", "-o", self.path]
            subprocess.run(build, input=self.SOURCE, text=True, check=True)
            for function, why in (("fill", "at each repetition of this string instruction"), ("flags", "steps this pushf with the trap flag"),
                                  ("call", "find in %r11")):
                rows, said = self.rows(function, "-x", "backend=uprobe")
                self.assertRegex(said, r"\d probes? left out")
                self.assertIn(why, said)
                self.assertGreater(len(rows), 3)
                self.assertEqual({count for _, count in rows}, {"10"})


class SignalReturns(dvmtest.PrivilegedTest):
    """Code that only returns from signal handlers, by any name, gets no probe: signals that arrive at a trap there would nest handlers."""

    SOURCE = """
        #include <signal.h>
        #include <stdio.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        void leave(void);
        __asm__(".type leave, @function; leave: mov $15, %eax; syscall; .size leave, . - leave");
        struct { void (*handler)(int); unsigned long flags; void (*restorer)(void); unsigned long mask; } action;
        volatile int handled;
        void handle(int number) { handled += number == SIGUSR2; }
        int main(void) {
          action.handler = handle, action.flags = 0x04000000, action.restorer = leave;
          syscall(SYS_rt_sigaction, SIGUSR2, &action, 0, 8);
          signal(SIGUSR1, handle);
          for (int i = 0; i < 10; i++) raise(SIGUSR1), raise(SIGUSR2);
          return printf("handled %d\\n", handled) < 0;
        }
    """

    def test_each_is_left_out(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "returns")
            build = [os.environ["DVM_CC"], "-O1", "-x", "c", "-", "-o", path]
            subprocess.run(build, input=self.SOURCE, text=True, check=True)
            for backend, why in (("uprobe", "signal handlers return there"), ("breakpoint", "signal handlers return there"),
                                 ("agent", "unwinders recognize the return from signal handlers|an instruction that enters the kernel")):
                for function in ("libc.so.6:__restore_rt:entry", "a.out:leave:entry", "a.out:leave:0", "a.out:leave:5"):
                    with self.subTest(backend=backend, function=function):
                        result = dvm("run", "-Z", "-v", "-x", f"backend={backend}", "-n", f"pid$target:{function},pid$target:a.out:handle:entry {{ @[probefunc] = count(); }}",
                                     "-c", path)
                        self.assertIn("handled 10", result.stdout)
                        self.assertEqual(re.findall(r"^ +(\w+) +(\d+)$", result.stdout, re.M), [("handle", "20")], result.stderr)
                        self.assertRegex(result.stderr, why)


class Vectors(dvmtest.PrivilegedTest):
    """The kernel mistakes some vector instructions for jumps. Probes on them are left out, and the program computes the right results."""

    def run_vectors(self, probes):
        result = dvm("run", "-Z", "-n", f"{probes} {{ @[probefunc] = count(); }}", "-c", program("vectors"), timeout=120)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, "200 of 200 right|no AVX2")
        return result

    def test_every_instruction(self):
        result = self.run_vectors("pid$target:vectors:mark:,pid$target:vectors:first_word:")
        self.assertRegex(result.stderr, r"\d+ probes left out, .*: the kernel would mistake this vector instruction for a branch")

    def test_an_entry_goes_behind_it(self):
        result = self.run_vectors("pid$target:vectors:first_word:entry,pid$target:vectors:first_word:return")
        self.assertNotIn("left out", result.stderr)
        self.assertRegex(result.stdout, r"first_word +200\n|no AVX2")
        refused = dvm("run", "-x", "site=entry", "-n", "pid$target:vectors:first_word:entry", "-c", program("vectors"))
        self.assertIn("would mistake this vector instruction for a branch", refused.stderr)

    def test_every_instruction_of_functions_of_libc(self):
        self.run_vectors("pid$target:libc.so.6:strlen:,pid$target:libc.so.6:strchr:,pid$target:libc.so.6:strchrnul:")

    def test_every_entry_of_libc(self):
        self.run_vectors("pid$target:libc.so.6::entry")


if __name__ == "__main__":
    unittest.main()
