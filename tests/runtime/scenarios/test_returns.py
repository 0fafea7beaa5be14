"""Return probes: each return is seen once with its value, and the program does what it does untraced."""

import re
import subprocess
import sys
import tempfile
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

    def test_returns_too_deep_for_a_uretprobe_are_counted(self):
        result = dvm("run", "-q", "-x", "return=uretprobe", "-x", "droptags", "-n",
                     "pid$target:a.out:deep:entry { @e = count(); } pid$target:a.out:deep:return { @r = count(); }", "-c", program("returns"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("10000 4 14", result.stdout)
        counts = [int(line) for line in result.stdout.split("\n") if re.fullmatch(r" +\d+", line)]
        lost = sum(int(n) for n in re.findall(r"\[DTRACEDROP_RETURN\] (\d+) return drops? \(calls nested deeper", result.stderr))
        self.assertEqual(counts, [10001, 64])
        self.assertEqual(lost, 10001 - 64)

    def test_a_script_may_forbid_uretprobes(self):
        result = dvm("run", "-q", "-x", "return=exits", "-n", "pid$target:a.out:unknown_ways:return,pid$target:a.out:two_ways:return { @[probefunc] = count(); }",
                     "-c", program("returns"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("10000 4 14", result.stdout)
        self.assertRegex(result.stdout, r"two_ways +3")
        self.assertNotIn("unknown_ways", result.stdout)
        self.assertIn("not all instructions that leave the function are known", result.stderr)

    def test_a_return_comes_after_its_instruction(self):
        def traced(script, *options):
            return dvm("run", "-q", *options, "-n", script, "-c", program("varied") + " 2").stdout

        every = 'pid$target:varied:ways: { printf("%s ", probename); } pid$target:varied:ways:return { printf("\\n"); }'
        lines = [line.split() for line in traced(every, "-x", "return=exits").splitlines() if "entry" in line]
        self.assertEqual([(line[0], line[-1]) for line in lines], [("entry", "return")] * 2)
        pair = f'pid$target:varied:ways:return {{ printf("return\\n"); }} pid$target:varied:ways:{lines[0][-2]} {{ printf("at "); }}'
        for backend in ("agent", "uprobe"):
            self.assertEqual(traced(pair, "-x", "return=exits", "-x", f"backend={backend}").count("at return\n"), 2)

    def test_registers_at_a_return_are_those_of_the_function(self):
        script = "pid$target:varied:number:return { @[uregs[R_RSP] & 15, (long)uregs[R_RAX] == arg1, ufunc(uregs[R_PC])] = count(); @n[ustack(1)] = count(); }"
        by_agent, by_uprobes = (dvm("run", "-q", "-x", f"backend={one}", "-n", script, "-c", program("varied") + " 2").stdout for one in ("agent", "uprobe"))
        self.assertRegex(by_agent, r" 8 +1 +varied`number +4\n")
        self.assertEqual(by_agent, by_uprobes)

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

    # C has no exceptions, so its returns may have uretprobes, until it opens a library in C++.
    def test_exceptions_of_a_library_that_is_opened_later_pass(self):
        for backend in ("uprobe", "agent"):
            self.sort(backend, f"{program('sorts')} {program('libsorted.so')}")

    # A library that both programs map keeps its probes.
    def test_exceptions_of_a_program_that_another_executes_pass(self):
        for command in (f"env {program('sorts_linked')}", f"sh -c 'exec env {program('sorts_linked')}'"):
            self.sort("uprobe", command)

    def test_a_refused_return_does_not_hold_up_the_others(self):
        """The kernel refuses the first instruction of a variant of memset."""
        self.sort("uprobe", f"{program('sorts')} {program('libsorted.so')}", "pid$target:libc:strn*:return,pid$target:libc:__memset*:return,")

    def sort(self, backend, command, more=""):
        result = dvm("run", "-q", "-x", f"backend={backend}", "-n",
                     more + "pid$target:libc:qsort*:return,pid$target:libc:malloc:return { @[probefunc] = count(); }", "-c", command)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("caught 100\n", result.stdout, result.stderr)
        self.assertRegex(result.stdout, r"malloc +\d+\n")

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


class Unwinders(dvmtest.PrivilegedTest):
    def test_exceptions_pass_though_the_unwinder_itself_is_traced(self):
        result = dvm("run", "-Z", "-n", "pid$target:libgcc_s*::return,pid$target:libstdc*::return,pid$target:libc.so.6::return "
                     "{ @[probemod] = count(); }", "-c", program("returns"), timeout=120)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("10000 4 14", result.stdout)
        self.assertRegex(result.stdout, r"libgcc_s\S+ +\d+")


class Coroutines(dvmtest.PrivilegedTest):
    """The kernel forgets uretprobes of functions that are suspended on another stack, and then kills the program."""

    def test_all_returns(self):
        for words in ([], ["own"]):
            for options in ([], ["-x", "backend=agent"]):
                with self.subTest(words, options=options):
                    plain = subprocess.run([program("coroutines"), *words], capture_output=True, text=True, check=True).stdout
                    result = dvm("run", "-q", *options, "-n", "pid$target:a.out::return { @[probefunc] = count(); }", "-c", " ".join([program("coroutines"), *words]))
                    self.assertEqual(result.returncode, 0, result.stderr)
                    self.assertIn(plain, result.stdout)
                    counts = dict(re.findall(r"^ +(\w+) +(\d+)$", result.stdout, re.M))
                    self.assertEqual(counts["descend"], plain.split()[0])
                    self.assertNotIn("drop", result.stderr)


class HandlersAbove(dvmtest.PrivilegedTest):
    """Signal handlers on an alternate stack above the stack of their thread: the kernel takes those for functions that have been left."""

    def test_all_returns(self):
        plain = subprocess.run([program("above")], capture_output=True, text=True, check=True).stdout
        result = dvm("run", "-q", "-n", "pid$target:a.out::return { @[probefunc] = count(); }", "-c", program("above"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(plain, result.stdout)
        counts = dict(re.findall(r"^ +(\w+) +(\d+)$", result.stdout, re.M))
        self.assertEqual([counts[name] for name in ("caller", "leaf", "handle", "take")], ["50", "50", "100", "150"])

    # The second thread gets the alternate stack, from memory that the first one has left, and its own stack lies below that.
    PYTHON = """
import faulthandler, signal, threading
def work():
    faulthandler.register(signal.SIGUSR1, file=open("/dev/null", "w"), all_threads=False)
    for i in range(300):
        signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
        str(i)
    print("survived", flush=True)
for size, run in ((4 << 20, lambda: None), (64 << 20, work)):
    threading.stack_size(size)
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
"""

    def test_python(self):
        with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
            script.write(self.PYTHON)
            script.flush()
            result = dvm("run", "-q", "-n", "pid$target:*python3*:*Py*:return { @ = count(); }", "-c", f"{sys.executable} {script.name}")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("survived\n", result.stdout)
        self.assertRegex(result.stdout, r"\n +[1-9]\d{3}")


class Harmless(dvmtest.PrivilegedTest):
    """Functions whose return address is kept, or lies elsewhere: the program runs as untraced."""

    def trace(self, probes):
        result = dvm("run", "-Z", "-n", f"{probes} {{ @[probefunc] = count(); }}", "-c", program("contexts"), timeout=120)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("10 4 7\n", result.stdout)
        return dict(re.findall(r"^ +(\w+) +(\d+)$", result.stdout, re.M))

    def test_what_comes_back(self):
        found = self.trace("pid$target:libc.so.6:*setjmp:return,pid$target:libc.so.6:getcontext:return,pid$target:libc.so.6:vfork:return")
        self.assertGreaterEqual(int(found["_setjmp"]), 4)  # the start of a program calls it, too
        self.assertEqual(found["getcontext"], "1")

    def test_what_is_not_called(self):
        self.trace("pid$target:a.out:_start:return,pid$target:ld-linux*:_dl_runtime*:return,pid$target:libc.so.6:__restore_rt:return")

    def test_stubs_of_the_linker(self):
        self.trace("pid$target:a.out::return")

    def test_everything_of_the_loader_and_the_library(self):
        self.trace("pid$target:ld-linux*::entry,pid$target:ld-linux*::return,pid$target:libc.so.6::entry,pid$target:libc.so.6::return")


if __name__ == "__main__":
    unittest.main()
