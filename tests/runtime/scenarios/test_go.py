"""Programs of Go: where arguments and results lie, and how often a function is entered."""

import os
import re
import unittest

import dvmtest
from dvmtest import dvm, program


class GoTest(dvmtest.PrivilegedTest):
    def setUp(self):
        super().setUp()
        if not os.path.exists(program("go_shop")):
            dvmtest.skip_or_fail(self, "go was not there when the tests were built")

    def trace(self, script, name="go_shop"):
        result = dvm("run", "-q", "-n", script.replace("go:", "pid$target:a.out:main."), "-c", program(name))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("drop", result.stderr)
        return result.stdout


class Arguments(GoTest):
    def test_words_in_registers(self):
        out = self.trace('go:??Shop?.Put:entry { @["sum"] = sum(arg1); @m["most"] = max(arg1); }')
        self.assertEqual(re.findall(r"(sum|most) +(\d+)", out), [("sum", "499500"), ("most", "999")])

    def test_strings(self):
        out = self.trace('go:greet:entry { printf("[%s] [%s] %d %d\\n", copyinstr(arg0, arg1 + 1), stringof(copyin(arg0, arg1)), arg3, arg4); }')
        self.assertIn("[hello] [hello] 2 2\n[empty] [empty] 0 0\n", out)

    def test_words_behind_the_registers(self):
        out = self.trace('go:many:entry { printf("many %d %d %d %d\\n", arg0, arg4, arg8, arg9); }')
        self.assertIn("many 1 5 9 10\n", out)

    def test_results(self):
        out = self.trace('go:greet:return { printf("%d %d\\n", arg2, arg3 != 0); } go:many:return { printf("many %d\\n", arg1); }')
        self.assertIn("4 0\n0 1\nmany 55\n", out)

    def test_words_at_an_instruction(self):
        out = self.trace('go:many:0 { printf("many %d %d %d\\n", arg0, arg8, arg9); }')
        self.assertIn("many 1 9 0\n", out)

    def test_functions_of_c_beside_them(self):
        out = self.trace('go:ofGo:entry { @go[arg0, arg1] = count(); } pid$target:a.out:of_c:entry { @c[arg0, arg1] = count(); }', "go_cgo")
        for call in range(10):
            self.assertEqual(len(re.findall(rf"^ +{100 + call} +{call} +1$", out, re.M)), 2, out)


class Entries(GoTest):
    """Stacks that grow let a function begin anew."""

    def test_each_call_fires_once(self):
        probes = ",".join(f"go:{function}:{name}" for function in ("deep", "huge", "work", "leaf") for name in ("entry", "return"))
        found = dict(re.findall(r"^ +main\.(\w+ +\w+) +(\d+)$", self.trace(probes + " { @[probefunc, probename] = count(); }"), re.M))
        found = {" ".join(key.split()): int(count) for key, count in found.items()}
        for function, calls in (("deep", 200 * 21), ("huge", 200), ("work", 200), ("leaf", 200)):
            self.assertEqual(found[f"{function} entry"], calls)
            if function != "work":  # it calls Done() last, and the program may end before
                self.assertEqual(found[f"{function} return"], calls)

    def test_the_first_instruction_fires_more_often(self):
        """Or the test above would show nothing."""
        out = self.trace("go:deep:0 { @ = count(); }")
        self.assertGreater(dvmtest.numbers(out)[-1], 200 * 21)

    def test_callers_are_right_behind_the_check(self):
        out = self.trace('go:leaf:entry { @[ufunc(ucaller)] = count(); } go:huge:entry { @h[ufunc(ucaller)] = count(); ustack(1); }')
        self.assertRegex(out, r"main\.huge +200")
        self.assertRegex(out, r"main\.work +200")
        self.assertNotRegex(out, r"main\.huge\+0x")


if __name__ == "__main__":
    unittest.main()
