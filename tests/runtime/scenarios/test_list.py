"""dvm list and dvm compile: what exists, and what a script becomes, without tracing anything."""

import os
import re
import unittest

import dvmtest
from dvmtest import dvm, program


class Listing(unittest.TestCase):
    def test_internal_probes(self):
        result = dvm("list", "dtrace:::")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.splitlines()[0], "   ID   PROVIDER            MODULE                          FUNCTION NAME")
        self.assertEqual([line.split() for line in result.stdout.splitlines()[1:]],
                         [["1", "dtrace", "BEGIN"], ["2", "dtrace", "END"], ["3", "dtrace", "ERROR"]])

    def test_what_matches_nothing_is_told_and_the_rest_listed(self):
        # The status of -l is dtrace's.
        for status, words in ((1, ["list", "nosuch:::", "END"]), (0, ["run", "-l", "-n", "nosuch:::", "-n", "END"])):
            result = dvm(*words)
            self.assertEqual(result.returncode, status)
            self.assertIn("dvm: failed to match nosuch:::: No probe matches description", result.stderr)
            self.assertEqual([line.split() for line in result.stdout.splitlines()[1:]], [["2", "dtrace", "END"]])

    def test_a_process_that_is_not_there_is_an_error(self):
        result = dvm("list", "pid999999999:::")
        self.assertEqual(result.returncode, 1)
        self.assertIn("failed to match pid999999999:::: failed to grab process", result.stderr)

    def test_macros_stand_for_their_values(self):
        result = dvm("list", "nosuch$uid:::")
        self.assertIn(f"failed to match nosuch{os.getuid()}:::", result.stderr)
        result = dvm("list", "dtrace$nosuch:::BEGIN")
        self.assertEqual(result.returncode, 1)
        self.assertIn("macro variable $nosuch is not defined", result.stderr)

    def test_descriptions_have_four_fields(self):
        result = dvm("list", "a:b:c:d:e")
        self.assertEqual(result.returncode, 1)
        self.assertIn('invalid probe description "a:b:c:d:e": Overspecified probe description', result.stderr)

    def test_numbers_are_the_same_in_every_run(self):
        number = dvm("list", "syscall::write:return").stdout.split()[-4]
        for words in (["list", "-i", number], ["run", "-l", "-i", number], ["run", "-l", "-n", number + " { trace(1); }"]):
            with self.subTest(words):
                result = dvm(*words)
                self.assertEqual(result.stdout.split()[-4:], [number, "syscall", "write", "return"], result.stderr)

    def test_v_describes_a_probe(self):
        attributes = "\t\tIdentifier Names: {0}\n\t\tData Semantics:   {0}\n\t\tDependency Class: {1}\n"
        block = "\n\tProbe Description Attributes\n{0}\n\tArgument Attributes\n{0}\n\tArgument Types\n{1}\n"
        for words in (["list", "-v"], ["run", "-l", "-v", "-n"]):
            self.assertIn(block.format(attributes.format("Stable", "Common"), "\t\tNone\n"), dvm(*words, "BEGIN").stdout)
            self.assertIn(block.format(attributes.format("Evolving", "ISA"), "\t\targs[0]: lwpsinfo_t *\n\t\targs[1]: psinfo_t *\n"),
                          dvm(*words, "sched:::off-cpu").stdout)

    def test_options_are_listed(self):
        known, ignored, refused = dvm("compile", "--options").stdout.split("\n\n")
        self.assertRegex(known, r"(?m)^strsize .*\(default 256\)$")
        for default in ("bufsize .*4m", "ringsize .*8m", "aggrate .*1s", "cleanrate .*101hz", "demangle .*on", "return .*safe", "nspec .*1"):
            self.assertRegex(known, rf"(?m)^{default}\)$")
        self.assertRegex(known, r"(?m)^quiet  (?!.*default)")
        self.assertRegex(ignored, r"(?m)^bpflog .*no effect")
        self.assertTrue(all("(refused: " in line for line in refused.splitlines()[1:]), refused)

    def test_ast(self):
        result = dvm("compile", "--ast", "-n", "BEGIN { x = 1 + 2; }")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("BEGIN", result.stdout)


class ListingProcesses(dvmtest.PrivilegedTest):
    def test_functions_of_a_process(self):
        result = dvm("list", "pid$target:looper:func:", "-c", program("looper") + " 1")
        self.assertEqual(result.returncode, 0, result.stderr)
        names = [line.split()[-1] for line in result.stdout.splitlines()[1:]]
        self.assertEqual(names[:4], ["entry", "return", "0", "1"])

    def test_sites_of_a_process(self):
        result = dvm("list", "-v", "pid$target:looper:func:entry", "-c", program("looper") + " 1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(self.site_lines(result)[0], r"^\tsite: at 0x[0-9a-f]+ of the file: push %rbp \(emulated, about 420 ns per firing\)$")

    def test_types_of_arguments(self):
        result = dvm("list", "-v", "pid$target:types:by_value:entry", "-c", program("types"))
        self.assertRegex(result.stdout, r"\tArgument Types\n\t\targs\[0\]: void \*\n\t\targs\[1\]: void \*\n", result.stderr)

    def site_lines(self, result):
        return [line for line in result.stdout.splitlines() if line.startswith("\tsite")]

    def sites(self, description):
        result = dvm("list", "-v", description, "-c", program("sites"))
        self.assertEqual(result.returncode, 0, result.stderr)
        return [line.strip() for line in self.site_lines(result)]

    def test_kinds_of_sites(self):
        at = "at 0x[0-9a-f]+ of the file"
        for description, expected in [
            ("site_mark:entry", [f"site: {at}, 0x4 after the entry: push %rbp \\(emulated, about 420 ns per firing\\)"]),
            ("site_changed:entry", [f"site: {at}: mov %rdi, %rax \\(stepped, about 7000 ns per firing\\)",
                                    f"site if no clause reads arguments: {at}, 0x8 after the entry: push %rbx \\(emulated, about 420 ns per firing\\)"]),
            ("locked_site:entry", [f"site: {at}, 0x[56] after the entry: mov %rsi, %rax \\(stepped, about 7000 ns per firing\\)"]),
            ("site_changed:return", [f"site: {at}, a uretprobe: push %rbx \\(emulated, about 820 ns per firing\\)"]),
            ("site_mark:4", [f"site: {at}: push %rbp \\(emulated, about 420 ns per firing\\)"]),
        ]:
            with self.subTest(description):
                sites = self.sites("pid$target:a.out:" + description)
                self.assertEqual(len(sites), len(expected), sites)
                for line, pattern in zip(sites, expected):
                    self.assertRegex(line, f"^{pattern}$")

    @unittest.skipUnless(dvmtest.has_llvm(), "built without LLVM")
    def test_backends_are_listed_with_why_not_another(self):
        result = dvm("list", "-v", "pid$target:looper:func:entry", "-c", program("looper") + " 1")
        self.assertEqual(next(line for line in result.stdout.splitlines() if line.startswith("\tbackend")),
                         "\tbackend local (uprobe), engine interp; not agent: BPF is permitted, and -x backend=agent chooses it; "
                         "not breakpoint: BPF is permitted, and a uprobe costs less; not llvm: translating it does not pay yet")
        result = dvm("run", "-v", "-q", "-n", "pid$target:looper:func: { @ = count(); } tick-100ms { exit(0); }",
                     "-x", "backend=uprobe", "-c", program("looper") + " 1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"dvm: dt_clause_0 pid\d+:looper:func:entry and \d+ more: backend local \(uprobe\), engine interp; "
                                        "not agent: -x backend=uprobe; not breakpoint: -x backend=uprobe; not llvm: translating it does not pay yet\n")
        self.assertIn("dvm: dt_clause_1 profile:::tick-100ms: backend local (timer), engine interp; not uprobe: dvm's own clock fires it; "
                      "not breakpoint: it fires at instructions and system calls only; not llvm: translating it does not pay yet\n", result.stderr)

    def test_probes_left_out_are_listed(self):
        result = dvm("run", "-q", "-v", "-n", "pid$target:a.out:locked_site: { @ = count(); }", "-c", program("sites"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"dvm: left out, pid\d+:sites:locked_site:0: the kernel cannot put a probe on this instruction")
        self.assertNotIn("locked_site:5:", result.stderr)

    def test_many_probes_left_out_are_counted(self):
        result = dvm("run", "-q", "-v", "-n", "pid$target:libc::return { @ = count(); }", "-c", program("sites"))
        self.assertEqual(result.returncode, 0, result.stderr)
        sums = [(int(count), reason) for count, reason in re.findall(r"(?m)^dvm: (\d+) probes left out, \S+ and others: (.*)$", result.stderr)]
        self.assertTrue(sums)
        for count, reason in sums:
            self.assertGreater(count, 5)
            self.assertNotRegex(result.stderr, r"(?m)^dvm: left out, .*: " + re.escape(reason) + "$")


if __name__ == "__main__":
    unittest.main()
