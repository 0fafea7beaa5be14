"""Keys that a traced thread finds out by itself: the same as by uprobes, whatever lies at an address."""

import re
import unittest

import dvmtest
from dvmtest import program
from scenarios.test_agent import AgentTest

IN_THREAD = "(agent, in the traced thread)"
# A clause on the same probe, so that dvm runs both.
IN_DVM = " pid$target:a.out:{0}:entry /ppid < 0/ {{ trace(0); }}"


class Keys(AgentTest):
    PROGRAM = program("pointers")
    BODIES = ["{ @[arg1, copyinstr(arg0)] = count(); }", "{ @[copyinstr(arg0), arg1] = sum(arg1); }",
              "{ @[copyinstr(arg0, 6), execname, probefunc, copyinstr(arg0 + 1)] = count(); }",
              "/arg1 != 7/ { @[probename, probemod, \"a constant that is cut\", arg1 & 1] = quantize(arg1); }",
              "{ @[execname] = max(arg1); }", "{ @[copyinstr(arg1 > 12 ? arg0 : 0), copyinstr(arg0, 9)] = count(); }"]

    def run_one(self, script, *args):
        return dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-x", "ringsize=64m", "-x", "aggsortkey", *args, "-n", script, "-c", self.PROGRAM)

    def errors(self, result):
        """Without addresses and the process, which differ."""
        return sorted(re.sub(r"pid\d+|0x[0-9a-f]+", "", line) for line in result.stderr.splitlines() if "error" in line)

    def test_results_are_those_of_dvm(self):
        for options in [(), ("-x", "strsize=9"), ("-x", "strsize=16")]:
            for body in self.BODIES:
                with self.subTest(body, options=options):
                    script = f"pid$target:a.out:follow:entry {body} ERROR {{ @e[arg4] = count(); }}"
                    here = self.run_one(script, *options)
                    there = self.run_one(script + IN_DVM.format("follow"), *options)
                    self.assertIn(IN_THREAD, here.stderr)
                    self.assertNotIn(IN_THREAD, there.stderr)
                    self.assertEqual(here.stdout, there.stdout)
                    self.assertIn("0 faults, same handler\n", here.stdout)
                    self.assertEqual(self.errors(here), self.errors(there))

    def test_the_first_aggregation_alone_may_have_a_key_that_cannot_be_read(self):
        strings, numbers = "pid$target:a.out:follow:entry { @[copyinstr(arg0)] = count(); }", "pid$target:a.out:follow:entry { @n[arg1] = count(); }"
        error = "ERROR { @e[arg4] = count(); }"
        first, last = self.run_one(strings + numbers + error), self.run_one(numbers + strings + error)
        self.assertIn(IN_THREAD, first.stderr)
        self.assertNotIn(IN_THREAD, last.stderr)
        self.assertEqual(sorted(first.stdout.splitlines()), sorted(last.stdout.splitlines()))
        self.assertRegex(first.stdout, r"\n +20 +10000\n")

    def test_ten_thousand_bad_addresses_are_faults_of_the_clause(self):
        result = self.run_one("pid$target:a.out:follow:entry /arg1 == 20/ { @[copyinstr(arg0)] = count(); } ERROR { @e[arg4] = count(); }")
        self.assertIn(IN_THREAD, result.stderr)
        self.assertRegex(result.stdout, r"(?s)0 faults, same handler\n.*\n +1 +10000\n$")

    def test_memory_that_another_thread_unmaps(self):
        result = self.run_one("pid$target:a.out:chase:entry { @[copyinstr(arg0)] = count(); } ERROR { @e[arg4] = count(); }")
        self.assertIn("0 faults, same handler\n", result.stdout)
        counts = [int(line.split()[-1]) for line in result.stdout.splitlines() if re.search(r" \d+$", line)]
        self.assertEqual(sum(counts), 3000)

    def test_a_key_that_depends_on_more_runs_in_dvm(self):
        for key in ('arg1 ? "yes" : "no"', "strjoin(probefunc, execname)", "copyinstr(arg0, arg1)", "stringof(copyin(arg0, 4))"):
            with self.subTest(key):
                result = self.run_one(f"pid$target:a.out:follow:entry /arg1 == 1/ {{ @[{key}] = count(); }}")
                self.assertNotIn(IN_THREAD, result.stderr)
                self.assertRegex(result.stdout, r" 1\n")


if __name__ == "__main__":
    unittest.main()
