"""Engine auto while threads on several CPUs fire: what they add up to does not depend on when clauses become machine code."""

import os
import re
import unittest

import dvmtest

# Sums, keys, variables of threads, and a fault: each firing adds the same to all of them.
SCRIPT = """
uint64_t all;
pid$target:a.out:work:entry {
  self->n++; all++; this->low = arg0 & 0xff;
  @count = count(); @sum = sum(this->low * 3 - this->low * 2 - this->low + 1);
  @of[tid] = count(); @most[tid] = max(self->n); @all = max(all);
}
pid$target:a.out:work:entry /arg0 %% 64 == 0/ { @zero = count(); trace(1 / (arg0 & 63)); }
ERROR { @errors = count(); @at[arg3, arg4] = count(); }
tick-%ds { exit(0); }
END {
  printa("count %%@d\\n", @count); printa("sum %%@d\\n", @sum); printa("all %%@d\\n", @all); printa("of %%d %%@d\\n", @of);
  printa("most %%d %%@d\\n", @most); printa("zero %%@d\\n", @zero); printa("errors %%@d\\n", @errors); printa("at %%d %%d %%@d\\n", @at);
}
"""
THREADS = 2 if os.environ.get("DTRACE_OPT_BACKEND") == "agent" else 4  # without traps, more of them leave dvm no CPU
MOST_SECONDS = 40  # on a busy machine, clauses that cost little in a second are translated late


class Engines(dvmtest.PrivilegedTest):
    def run_for(self, seconds, *options):
        run = dvmtest.dvm("run", "-v", "-q", *options, "-c", f"{dvmtest.program('threads')} {THREADS} 1000000000",
                          "-n", SCRIPT % seconds)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run

    def check_sums(self, run):
        output = run.stdout
        rows = [line.split() for line in output.splitlines() if re.match(r"[a-z]+ -?\d", line)]
        self.assertTrue(rows, output)
        (count,) = (int(row[1]) for row in rows if row[0] == "count")
        for name in ("sum", "all"):
            self.assertIn([name, str(count)], rows)
        of, most = ({row[1]: row[2] for row in rows if row[0] == name} for name in ("of", "most"))
        if " drops" not in run.stderr:
            self.assertEqual(of, most)
        for thread, count_of in of.items():  # an agent changes self->n in the thread, also if the record is lost
            self.assertLessEqual(int(count_of), int(most[thread]))
        self.assertEqual(sum(map(int, of.values())), count)
        (zero,) = (row[1] for row in rows if row[0] == "zero")
        self.assertIn(["errors", zero], rows)
        places = [row for row in rows if row[0] == "at"]
        self.assertEqual(len(places), 1, places)  # one pc, on both engines
        return count

    def check_change(self, *options):
        seconds = 3
        while True:
            run = self.run_for(seconds, *options)
            count = self.check_sums(run)
            changed = re.search(r"(?m)^dvm: dt_clause_0: engine llvm after (\d+) firings$", run.stderr)
            if changed and 0 < int(changed.group(1)) < count:
                return run
            seconds *= 2
            self.assertLess(seconds, MOST_SECONDS, run.stderr)

    def setUp(self):
        super().setUp()
        if not dvmtest.has_llvm():
            self.skipTest("built without LLVM")

    def test_sums_hold_while_the_engine_changes(self):
        self.check_change()

    def test_sums_hold_with_an_account(self):
        run = self.check_change("--account")
        self.assertIn("opcodes, variables and subroutines are timed on interp, actions one by one\n", run.stdout + run.stderr)


if __name__ == "__main__":
    unittest.main()
