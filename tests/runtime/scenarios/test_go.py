"""Programs of Go: where arguments and results lie, and how often a function is entered."""

import os
import re
import tempfile
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

    def test_typed_arguments(self):
        out = self.trace("""go:??Shop?.Put:entry /args[1] == 999/ {
            printf("Put %d %s %d, tags %d %d\\n", args[0]->total, stringof(copyin((uintptr_t)args[2].Name.str, args[2].Name.len)),
                   args[2].Price, *args[3].array, args[3].len); }
            go:mix:entry { printf("mix %d %d %d, %d %d\\n", args[0].small, args[0].flag, args[0].large, args[2], args[5]); }
            go:many:entry { printf("many %d %d\\n", args[0], args[9]); }""")
        self.assertIn("Put 498501 apple 3, tags 1 2\n", out)
        self.assertIn("mix -5 7 1099511627776, -3 200\n", out)
        self.assertIn("many 1 10\n", out)

    def test_typed_results(self):
        out = self.trace("""go:greet:return { printf("greet %d %d\\n", args[1].len, args[2].tab != 0); }
            go:mix:return { printf("mix %d %d\\n", args[1], args[2]); }""")
        self.assertIn("greet 4 0\ngreet 0 1\nmix 1099511627983 1\n", out)

    def test_structures_as_a_whole(self):
        out = self.trace("go:greet:entry { self->name = args[0]; self->list = args[1]; } "
                         'go:greet:return { printf("%d %d\\n", self->name.len, self->list.cap); }')
        self.assertIn("5 2\n5 0\n", out)

    def test_what_has_no_word_is_refused(self):
        for argument, why in (("args[1]", "vector register"), ("args[3]", "array"), ("args[6]", "out of range")):
            result = dvm("run", "-qn", "pid$target:a.out:main.mix:entry { trace(%s); }" % argument, "-c", program("go_shop"))
            self.assertNotEqual(result.returncode, 0)
            self.assertIn(why, result.stderr)

    def test_words_at_an_instruction(self):
        out = self.trace('go:many:0 { printf("many %d %d %d\\n", arg0, arg8, arg9); }')
        self.assertIn("many 1 9 0\n", out)

    def test_functions_of_c_beside_them(self):
        out = self.trace('go:ofGo:entry { @go[arg0, arg1] = count(); } pid$target:a.out:of_c:entry { @c[arg0, arg1] = count(); }', "go_cgo")
        for call in range(10):
            self.assertEqual(len(re.findall(rf"^ +{100 + call} +{call} +1$", out, re.M)), 2, out)


class GoroutineNumbers(GoTest):
    """Compared with the numbers that the program prints."""

    def numbers(self, out, word):
        return dict(re.findall(rf"^{word} (\d+) (\d+)$", out, re.M))

    def test_entries_returns_and_instructions(self):
        out = self.trace('go:sleep:entry { printf("at %d %d\\n", arg0, goid); } go:sleep:return { @r[goid] = count(); } go:leaf:0 { @i[goid] = count(); }', "go_goroutines")
        own = self.numbers(out, "own")
        self.assertEqual(len(set(own.values())), 50)
        self.assertEqual(self.numbers(out, "at"), own)
        for count in (1, 2):
            self.assertEqual({number for number, times in re.findall(r"^ +(\d+) +(\d+)$", out, re.M) if times == str(count)}, set(own.values()))

    def test_latency_by_goroutine(self):
        """Goroutines wait inside the function, and many continue in another thread."""
        out = self.trace("go:sleep:entry { ts[goid] = timestamp; in[goid] = tid; } go:sleep:return /ts[goid]/ "
                         "{ @n = count(); @m = sum(in[goid] != tid); @l = min(timestamp - ts[goid]); ts[goid] = 0; }".replace("in[", "began["), "go_goroutines")
        calls, moved, least = dvmtest.numbers(out.split("own")[-1])[-3:]
        self.assertEqual(calls, 50)
        self.assertGreater(moved, 0)
        self.assertGreaterEqual(least, 5_000_000)

    def test_recording(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "goroutines")
            recorded = dvm("record", "-o", path, "-n", "pid$target:a.out:main.sleep:entry { }", "-c", program("go_goroutines"))
            replayed = dvm("replay", "-q", "-n", 'pid$target:a.out:main.sleep:entry { printf("at %d %d\\n", arg0, goid); }', path)
        self.assertEqual(replayed.returncode, 0, replayed.stderr)
        self.assertEqual(self.numbers(replayed.stdout, "at"), self.numbers(recorded.stdout, "own"))
        self.assertEqual(len(self.numbers(replayed.stdout, "at")), 50)

    def refused(self, probe, name):
        result = dvm("run", "-q", "-n", probe + " { trace(goid); }", "-c", program(name))
        self.assertIn("1 probe left out", result.stderr)
        return result.stderr

    def test_refused_where_it_is_not_known(self):
        self.assertIn("this is not a Go program", self.refused("pid$target:a.out:main:entry", "looper"))
        self.assertIn("only in functions of Go", self.refused("pid$target:a.out:of_c:entry", "go_cgo"))
        self.assertIn("writes %r14", self.refused("pid$target:a.out:main.ofGo:0", "go_cgo"))
        self.assertIn("in assembly", self.refused("pid$target:a.out:runtime.memmove:entry", "go_shop"))
        self.assertIn("functions of Go", self.refused("syscall::write:entry", "go_shop"))


class Entries(GoTest):
    """A function starts again after its stack has grown."""

    def test_each_call_fires_once(self):
        probes = ",".join(f"go:{function}:{name}" for function in ("deep", "huge", "work", "leaf") for name in ("entry", "return"))
        found = dict(re.findall(r"^ +main\.(\w+ +\w+) +(\d+)$", self.trace(probes + " { @[probefunc, probename] = count(); }"), re.M))
        found = {" ".join(key.split()): int(count) for key, count in found.items()}
        for function, calls in (("deep", 200 * 21), ("huge", 200), ("work", 200), ("leaf", 200)):
            self.assertEqual(found[f"{function} entry"], calls)
            if function != "work":  # it calls Done() last, and the program may end before
                self.assertEqual(found[f"{function} return"], calls)

    def test_the_goroutine_is_in_a_register(self):
        out = self.trace("go:huge:entry { begin[uregs[R_R14]] = timestamp; } "
                         'go:huge:return /begin[uregs[R_R14]]/ { @["pairs"] = count(); begin[uregs[R_R14]] = 0; }')
        self.assertRegex(out, r"pairs +200")

    def test_the_first_instruction_fires_more_often(self):
        """Or the test above would show nothing."""
        out = self.trace("go:deep:0 { @ = count(); }")
        self.assertGreater(dvmtest.numbers(out)[-1], 200 * 21)

    def test_callers_are_right_behind_the_check(self):
        out = self.trace('go:leaf:entry { @[ufunc(ucaller)] = count(); } go:huge:entry { @h[ufunc(ucaller)] = count(); ustack(1); }')
        self.assertRegex(out, r"main\.huge +200")
        self.assertRegex(out, r"main\.work +200")
        self.assertNotRegex(out, r"main\.huge\+0x")

    def test_interrupted_goroutines_fire_once(self):
        """By breakpoints: the runtime's signals come where the instruction of a firing is not executed yet."""
        result = dvm("run", "-q", "-x", "backend=breakpoint", "-n", "pid$target:a.out:main.tick:entry { @ = count(); }", "-c", program("go_preempted"))
        self.assertEqual((result.returncode, result.stdout.split()), (0, ["calls", "80000", "80000"]), result.stderr)
        self.assertNotIn("drop", result.stderr)


if __name__ == "__main__":
    unittest.main()
