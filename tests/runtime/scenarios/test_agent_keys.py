"""Keys that a traced thread computes itself: the same as by uprobes, whatever memory an address points at."""

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

    # A clause ends where a value cannot be had, with a fault; others go on. ENTRY is the description.
    FAULTS = ["ENTRY { @a[copyinstr(arg0)] = count(); } ENTRY { @b[copyinstr(arg0 + 1)] = count(); } ENTRY { @n[arg1] = count(); }",
              "ENTRY { @n[arg1] = count(); } ENTRY { @[arg1, copyinstr(arg0)] = sum(arg1); }",
              "ENTRY { self->n = arg1; @[copyinstr(arg0)] = count(); self->done = arg1; } ENTRY /self->done/ { @done[self->done, self->n] = count(); self->done = 0; }",
              "ENTRY { this->k = arg1 * 2; @[copyinstr(arg0), this->k] = count(); this->k = 1; } ENTRY { @k[this->k] = count(); }",
              "ENTRY { self->n++; } ENTRY /self->n > 2/ { @[100 / (arg1 - 8)] = sum(1000 % (arg1 & 3)); self->m++; } ENTRY { @m = max(self->m); @n = max(self->n); }"]

    def test_a_clause_with_variables_ends_at_its_fault(self):
        for body in self.FAULTS:
            script = body.replace("ENTRY", "pid$target:a.out:follow:entry") + " ERROR { @e[arg2, arg3, arg4] = count(); }"
            with self.subTest(script):
                here = self.run_one(script)
                self.assertIn(IN_THREAD, here.stderr)
                self.assertNotIn("not in the traced thread", here.stderr)
                there = self.run_one(script + IN_DVM.format("follow"))
                self.assertNotIn(IN_THREAD, there.stderr)
                self.assertEqual(sorted(here.stdout.splitlines()), sorted(there.stdout.splitlines()))
                self.assertEqual(self.errors(here), self.errors(there))

    def test_the_string_of_an_earlier_firing_is_a_key(self):
        entry = "pid$target:a.out:follow:entry"
        result = self.run_one(f"self uintptr_t text; self int kind; {entry} /self->kind/ {{ @[copyinstr(self->text)] = sum(self->kind); self->kind = 0; }} {entry} /self->kind/ {{ @left[self->kind] = count(); }}"
                              f"{entry} {{ self->text = arg0; self->kind = arg1; }} ERROR {{ @e[arg4] = count(); }}")
        self.assertIn(IN_THREAD, result.stderr)
        self.assertNotIn("not in the traced thread", result.stderr)
        self.assertRegex(result.stdout, r"\n +a literal +1\n")
        self.assertRegex(result.stdout, r"\n +a literal at all distances +17\n")
        self.assertRegex(result.stdout, r"\n +20 +9999\n")  # the last one is not an earlier one

    def test_what_must_not_happen_twice_before_a_fault_keeps_its_clause_in_dvm(self):
        for body in ("{ @n = count(); @[copyinstr(arg0)] = count(); }", "/arg1 != self->last/ { self->last = arg1; @[copyinstr(arg0)] = count(); }",
                     "{ self->n++; @[copyinstr(arg0), self->n & 1] = count(); }", "/self->n++ >= 0/ { @[copyinstr(arg0)] = count(); }"):
            with self.subTest(body):
                result = self.run_one(f"pid$target:a.out:follow:entry {body} ERROR {{ @e[arg4] = count(); }}")
                self.assertNotIn(IN_THREAD, result.stderr)
                self.assertIn("may be unreadable", result.stderr)
                self.assertRegex(result.stdout, r"\n +1 +[1-9]")

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
