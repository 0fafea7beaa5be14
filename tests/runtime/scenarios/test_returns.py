"""Return probes: each return is seen once with its value, and the program does what it does untraced."""

import unittest

import dvmtest
from dvmtest import dvm, program


class Returns(dvmtest.PrivilegedTest):
    def lines(self, script):
        result = dvm("run", "-q", "-n", script, "-c", program("returns"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("drops", result.stderr)
        lines = [line for line in result.stdout.splitlines() if line.strip()]
        self.assertIn("10000 4 14", lines, "the program was disturbed")
        lines.remove("10000 4 14")
        return [" ".join(line.split()) for line in lines]

    def test_deep_recursion(self):
        self.assertEqual(self.lines("pid$target:a.out:deep:return { @ = count(); @s = max(arg1); }"), ["10001", "10000"])

    def test_exceptions_pass(self):
        self.assertEqual(self.lines("pid$target:a.out:passes:entry, pid$target:a.out:throws:entry { @[probefunc] = count(); }"
                                    "pid$target:a.out:passes:return, pid$target:a.out:throws:return { @r[probefunc] = count(); }"),
                         ["passes 4", "throws 8", "passes 3", "throws 6"])

    def test_what_an_exception_may_pass_is_left_out(self):
        result = dvm("run", "-q", "-n", "pid$target:a.out:unknown_ways:entry, pid$target:a.out:unknown_ways:return { @[probename] = count(); }",
                     "-c", program("returns"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("an exception through a return probe ends the program", result.stderr)
        self.assertIn("10000 4 14", result.stdout)
        self.assertEqual([line.split() for line in result.stdout.splitlines() if "entry" in line], [["entry", "4"]])

    def test_longjmp(self):
        self.assertEqual(self.lines("pid$target:a.out:jumps:return { printf(\"%d\\n\", arg1); }"), ["0", "1", "2"])

    def test_signal_in_the_middle(self):
        self.assertEqual(self.lines("pid$target:a.out:interrupted:return { printf(\"%d\\n\", arg1); }"), ["2"])

    def test_offset_and_value(self):
        self.assertEqual(self.lines("pid$target:a.out:two_ways:return { printf(\"%x %d\\n\", arg0, arg1); }"),
                         ["7 0", "b 5", "b 7"])

    def test_a_jump_to_another_function_leaves(self):
        self.assertEqual(self.lines("pid$target:a.out:tail:return { printf(\"%x\\n\", arg0); }"), ["3"])

    def test_callers(self):
        lines = self.lines("pid$target:a.out:two_ways:return /arg1 == 5/ { ustack(2); }")
        self.assertIn("`two_ways", lines[0])
        self.assertIn("`main+", lines[1])


if __name__ == "__main__":
    unittest.main()
