"""Hints of descriptions that match no function: full names, inlined functions, functions of other modules, libraries to come."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from dvmtest import DVM, ENV, dvm, dvm_in_time, program, skip_or_fail

SOURCE = """
#include <pthread.h>
namespace ns {
template <class T> struct Stack { [[gnu::noinline]] T push(T a) { return a + 1; } };
[[gnu::noinline]] int scale(int a) { return a * 2; }
static inline int tax(int a) { return a * 19 / 100; }
}
static int clone_of(int a, int b) __asm__("worker.isra.0");
[[gnu::noinline]] int clone_of(int a, int b) { return a * b; }
int main(int argc, char**) {
  return ns::Stack<int>().push(argc) + ns::Stack<long>().push(argc) + ns::scale(argc) + ns::tax(argc) + clone_of(argc, 2) < 0;
}
"""


class LookupHints(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.program = str(cls.folder / "named")
        subprocess.run(["g++", "-O1", "-g", "-finline-functions", "-x", "c++", "-", "-o", cls.program], input=SOURCE, text=True, check=True)

    def hints(self, description, command=None):
        result = dvm("run", "-n", f"{description} {{ @ = count(); }}", "-c", command or self.program)
        self.assertEqual(result.returncode, 1, result.stderr)
        return [line.removeprefix("    hint: ") for line in result.stderr.splitlines() if line.startswith("    hint: ")]

    def test_a_name_without_its_scope(self):
        self.assertEqual(self.hints("pid$target:a.out:scale:entry"), ["did you mean '\"ns::scale\"'?"])
        both = ["did you mean '\"ns::Stack<int>::push\"'?", "did you mean '\"ns::Stack<long>::push\"'?"]
        for name in ("push", '"Stack::push"', '"ns::Stack::push"'):
            self.assertEqual(self.hints(f"pid$target:a.out:{name}:entry"), both, name)

    def test_listings_have_them_too(self):
        expected = ["    hint: did you mean '\"ns::scale\"'?"]
        for words in (["list", "pid$target:a.out:scale:entry"], ["run", "-l", "-n", "pid$target:a.out:scale:entry"]):
            result = dvm(*words, "-c", self.program)
            self.assertEqual(result.stderr.splitlines()[1:], expected, words)
        dtrace = self.folder / "dtrace"
        dtrace.symlink_to(DVM)
        result = subprocess.run([dtrace, "-l", "-n", "pid$target:a.out:scale:entry", "-c", self.program], capture_output=True, text=True, env=ENV)
        self.assertEqual(result.stderr.splitlines()[1:], expected)

    def test_three_names_of_many_in_two_modules(self):
        for name, begin, options in (("libturns.so", 0, ["-shared", "-fPIC", "-nostdlib"]), ("turns", 4, ["-Wl,--no-as-needed", "libturns.so", "-Wl,-rpath," + str(self.folder)])):
            text = "".join(f"namespace n{n} {{ void turn() {{}} }}\n" for n in range(begin, begin + 4)) + ("int main() {}\n" if begin else "")
            subprocess.run(["g++", "-x", "c++", "-", "-x", "none", "-o", name, *options], input=text, text=True, check=True, cwd=self.folder)
        self.assertEqual(len(self.hints("pid$target::turn:entry", str(self.folder / "turns"))), 3)

    def test_the_full_name_works(self):
        result = dvm("run", "-q", "-n", 'pid$target:a.out:"ns::scale":entry { @ = count(); }', "-c", self.program)
        self.assertEqual((result.returncode, result.stdout.split()), (0, ["1"]), result.stderr)

    def test_a_tool_repeats_the_hint(self):
        result = dvm("tool", "funclatency", "-c", self.program, "scale")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr.splitlines()[1:], ["    hint: did you mean '\"ns::scale\"'?"])

    def test_a_clone(self):
        self.assertEqual(self.hints("pid$target:a.out:worker:entry"), ["did you mean 'worker.isra.0'?"])

    def test_an_inlined_function(self):
        text = "the compiler has inlined 'tax'; probe a function that calls it, or build with -fno-inline"
        self.assertEqual(self.hints("pid$target:a.out:tax:entry"), [text])

    def test_a_function_of_another_module(self):
        libc = ["module 'libc.so.6' has a function 'pthread_mutex_lock'"]
        for module in ("libpthread", "a.out", "libm"):
            self.assertEqual(self.hints(f"pid$target:{module}:pthread_mutex_lock:entry"), libc, module)

    def test_a_library_to_come(self):
        text = "-Z waits for a file that the process maps later; with -x followfork, also for those of its children"
        self.assertEqual(self.hints("pid$target:libplugin:start:entry"), [text])

    def test_a_program_without_symbols(self):
        stripped = str(self.folder / "stripped")
        subprocess.run(["strip", "-o", stripped, self.program], check=True)
        text = "a function without a symbol is named by its address, in hexadecimal: pid$target::-:ADDRESS"
        self.assertEqual(self.hints("pid$target:a.out:main:entry", stripped), [text])
        self.assertEqual(self.hints("pid$target::-:0x1000", stripped), ["offsets and addresses are hexadecimal, without 0x"])

    def test_a_program_that_exports_some_functions(self):
        stripped = str(self.folder / "exports")
        subprocess.run(["g++", "-x", "c++", "-", "-rdynamic", "-s", "-o", stripped], input='static void hid() {} extern "C" void seen() { hid(); } int main() { seen(); }', text=True, check=True)
        text = "'exports' is stripped: only functions that it exports have names; install its debug symbols to name all"
        for module in ("a.out", "exports", ""):
            self.assertEqual(self.hints(f"pid$target:{module}:internal_calculation:entry", stripped), [text], module)
        self.assertEqual(self.hints("pid$target:a.out:sen:entry", stripped), ["did you mean 'seen'?"])
        self.assertNotIn(text, self.hints("pid$target:a.out:internal_calculation:entry"))

    def test_a_script_that_executes_the_program(self):
        script = self.folder / "wrap"
        script.write_text(f'#!/usr/bin/env sh\nexec {self.program} "$@"\n')
        script.chmod(0o755)
        for description in ("pid$target::worker.isra.0:entry", "pid$target:a.out:worker*:entry", "pid$target:named:worker*:entry"):
            hints = self.hints(description, str(script))
            self.assertEqual(len(hints), 1, hints)
            self.assertRegex(hints[0], r"^process \d+ runs the script 'wrap'; -Z also matches programs that it executes, with -x followfork also in its children$")
        result = dvm_in_time("run", "-Z", "-q", "-n", "pid$target::worker.isra.0:entry { @ = count(); }", "-c", script)
        self.assertEqual((result.returncode, result.stdout.split()), (0, ["1"]), result.stderr)
        for words, expected in ((["worker*"], (1, "")), (["worker*", "-Z"], (0, "worker.isra.0")), (["nothing", "-Z"], (1, ""))):
            result = dvm_in_time("tool", "funccount", "-c", script, *words)
            self.assertEqual(result.returncode, expected[0], result.stderr)
            self.assertIn(expected[1], result.stdout)

    def test_a_misspelt_marker(self):
        if not os.path.exists(program("markers_O0")):
            skip_or_fail(self, "<sys/sdt.h> is not installed (systemtap-sdt-dev)")
        for provider in ("dvmtest$target", "dvmtest*"):
            self.assertEqual(self.hints(f"{provider}:::round-begn", program("markers_O0") + " 1"), ["did you mean 'round-begin'?", "did you mean 'round-end'?"], provider)
        self.assertEqual(self.hints("dvmnothing*:::round-begn", program("markers_O0") + " 1"), [])

    def test_arguments_of_a_probe_that_is_not_there(self):
        result = dvm_in_time("run", "-e", "-Z", "-n", "dvmnothing*:::begin { trace(args[0]); }")
        self.assertEqual(result.returncode, 1)
        self.assertIn("hint: no probe matches the description, so the types of its arguments are not known\n", result.stderr)


if __name__ == "__main__":
    unittest.main()
