"""Functions by the names that files have for them: without a size, one in another, Rust's, those of programs built for speed and
stripped, and those of the compressed symbols that some distributions leave in."""

import lzma
import pathlib
import re
import subprocess
import tempfile
import unittest

import dvmtest
from dvmtest import dvm, program


def counts(test, script, command):
    result = dvm("run", "-q", "-n", script, "-c", command)
    test.assertEqual(result.returncode, 0, result.stderr)
    return [line.split() for line in result.stdout.splitlines() if re.search(r"\d$", line) and "ns/call" not in line]


class Symbols(dvmtest.PrivilegedTest):
    def check(self, function, expected):
        script = f"pid$target:a.out:{function}:entry {{ @[probefunc] = count(); }} pid$target:a.out:{function}:return {{ @r = count(); }}"
        rows = counts(self, script, program("symbols"))
        self.assertEqual(rows, [*expected, [str(sum(int(n) for _, n in expected))]])

    def test_without_a_size(self):
        self.check("without_size", [["without_size", "1"]])
        self.check("after_it", [["after_it", "2"]])

    def test_one_in_another(self):
        self.check("[io]n*er", [["inner", "3"]])
        rows = counts(self, "pid$target:a.out:inner:entry { @[ufunc(ucaller)] = count(); }", program("symbols"))
        self.assertEqual(rows, [["symbols`outer", "3"]])

    def test_names_of_rust(self):
        self.check("crate??newer", [["crate::newer", "4"]])
        self.check("_RNv*newer", [["crate::newer", "4"]])
        self.check("?crate*method", [["<crate::Type>::method", "5"]])
        self.check("*older", [["crate::older", "6"]])
        rows = counts(self, "pid$target:a.out:*older*:entry, pid$target:a.out:*newer:entry { @[ufunc(uregs[R_RIP])] = count(); }",
                      program("symbols"))
        self.assertEqual(rows, [["symbols`crate::newer", "4"], ["symbols`crate::older", "6"]])

    def test_symbols_without_demangling(self):
        script = ("#pragma D option demangle=off\npid$target:a.out:*older*:entry "
                  "{ @[probefunc] = count(); @f[ufunc(uregs[R_RIP])] = count(); }")
        symbol = "_ZN5crate5older17h0123456789abcdefE"
        self.assertEqual(counts(self, script, program("symbols")), [[symbol, "6"], [f"symbols`{symbol}", "6"]])


class BuiltForSpeed(dvmtest.PrivilegedTest):
    def setUp(self):
        super().setUp()
        table = subprocess.run(["nm", program("looper_lto")], capture_output=True, text=True, check=True).stdout
        self.address, self.name = re.search(r"^0*([0-9a-f]+) \w (func\S*)$", table, re.M).groups()

    def test_optimised_as_a_whole(self):
        self.assertEqual(counts(self, "pid$target:a.out:func*:entry { @[probefunc] = count(); }", program("looper_lto") + " 9"),
                         [[self.name, "9"]])

    def test_stripped(self):
        stripped = program("looper_lto_stripped")
        result = dvm("list", "pid$target:a.out:func*:entry", "-c", stripped + " 9")
        self.assertIn("it has no function symbols (it is stripped)", result.stderr)
        self.assertEqual(counts(self, f"pid$target:a.out:-:{self.address} {{ @ = count(); }}", stripped + " 9"), [["9"]])

    def test_compressed_symbols(self):
        with tempfile.TemporaryDirectory() as folder:
            symbols, packed, mini = (str(pathlib.Path(folder) / name) for name in ("symbols", "symbols.xz", "mini"))
            subprocess.run(["objcopy", "--only-keep-debug", program("looper_lto"), symbols], check=True)
            pathlib.Path(packed).write_bytes(lzma.compress(pathlib.Path(symbols).read_bytes()))
            subprocess.run(["objcopy", f"--add-section=.gnu_debugdata={packed}", program("looper_lto_stripped"), mini], check=True)
            self.assertEqual(counts(self, "pid$target:a.out:func*:entry { @[probefunc] = count(); }", mini + " 9"), [[self.name, "9"]])


SPLIT = """
struct item { int id; const char *name; };
[[gnu::cold, gnu::noinline]] int fail(int n) { return __builtin_printf("%d", n); }
[[gnu::noinline]] int sell(item *one, int n) { if (n < 0) return fail(n) + fail(-n) + one->id; return one->id * n; }
int main(int argc, char **) { item one = {7, "pen"}; return sell(&one, argc) != 7; }
"""


class FunctionsInTwoParts(unittest.TestCase):
    def test_arguments(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/split"
            subprocess.run(["g++", "-O2", "-g", "-x", "c++", "-", "-o", path], input=SPLIT, text=True, check=True)
            self.assertIn(".cold", subprocess.run(["nm", path], capture_output=True, text=True, check=True).stdout)
            result = dvm("run", "-q", "-n", "pid$target:a.out:sell*:entry { printf(\"%s %d %d\", stringof(args[0]->name), args[0]->id, args[1]); }",
                         "-c", path)
            self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "pen 7 1\n", ""))


if __name__ == "__main__":
    unittest.main()
