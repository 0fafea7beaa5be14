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
        self.assertIn("failed to match a:b:c:d:e: more than four fields", result.stderr)

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
        self.assertRegex(result.stdout.splitlines()[2], r"^\tsite: at 0x[0-9a-f]+ of the file: push %rbp \(emulated, about 420 ns a firing\)$")


if __name__ == "__main__":
    unittest.main()
