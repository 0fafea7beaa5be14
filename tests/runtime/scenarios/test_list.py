"""dvm list and dvm compile: what exists, and what a script becomes, without tracing anything."""

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

    def test_what_matches_nothing_is_an_error(self):
        result = dvm("list", "nosuch:::")
        self.assertEqual(result.returncode, 1)
        self.assertIn("failed to match nosuch:::", result.stderr)

    def test_macros_stand_for_their_values(self):
        result = dvm("list", "nosuch$uid:::")
        self.assertIn(f"failed to match nosuch$uid:::", result.stderr)
        result = dvm("list", "dtrace$nosuch:::BEGIN")
        self.assertEqual(result.returncode, 1)
        self.assertIn("macro variable $nosuch is not defined", result.stderr)

    def test_descriptions_have_four_fields(self):
        result = dvm("list", "a:b:c:d:e")
        self.assertIn("failed to match a:b:c:d:e: Overspecified probe description", result.stderr)

    def test_options_are_listed(self):
        result = dvm("compile", "--options")
        self.assertIn("strsize", result.stdout)

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
        self.assertRegex(result.stdout.splitlines()[3], r"^\tsite: at 0x[0-9a-f]+ of the file: push %rbp \(emulated, about 420 ns per firing\)$")

    def sites(self, description):
        result = dvm("list", "-v", description, "-c", program("sites"))
        self.assertEqual(result.returncode, 0, result.stderr)
        return [line.strip() for line in result.stdout.splitlines() if line.startswith("\tsite")]

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

    def test_backends_are_listed_with_why_not_another(self):
        result = dvm("list", "-v", "pid$target:looper:func:entry", "-c", program("looper") + " 1")
        self.assertEqual(result.stdout.splitlines()[2],
                         "\tbackend local (uprobe), engine interp; not breakpoint: BPF is permitted, and a uprobe costs less; "
                         "not timer: it fires tick probes only")
        result = dvm("run", "-v", "-q", "-n", "pid$target:looper:func: { @ = count(); } tick-100ms { exit(0); }",
                     "-x", "instrument=uprobe", "-c", program("looper") + " 1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"dvm: clause 1 pid\d+:looper:func:entry and \d+ more: backend local \(uprobe\), engine interp; "
                                        "not breakpoint: -x instrument=uprobe; not timer: it fires tick probes only\n")
        self.assertIn("dvm: clause 2 profile:::tick-100ms: backend local (timer), engine interp; not uprobe: dvm's own clock fires it; "
                      "not breakpoint: it fires at instructions and system calls only\n", result.stderr)

    def test_probes_left_out_are_listed(self):
        result = dvm("run", "-q", "-v", "-n", "pid$target:a.out:locked_site: { @ = count(); }", "-c", program("sites"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"dvm: left out, pid\d+:sites:locked_site:0: the kernel cannot put a probe on this instruction")
        self.assertNotIn("locked_site:5:", result.stderr)


if __name__ == "__main__":
    unittest.main()
