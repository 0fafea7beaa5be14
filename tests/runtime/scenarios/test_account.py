"""The account: counts are exact, cycles are measured, and the JSON says what the table says."""

import json
import re
import unittest

import dvmtest
from dvmtest import dvm, program

TEXT = "pid$target:looper:func:entry /arg0 != 0/ { @[copyinstr(arg0)] = count(); }"


class Account(dvmtest.PrivilegedTest):
    def test_json_counts_are_exact(self):
        result = dvm("run", "-q", "--account=json", "-n", TEXT, "-c", program("looper") + " 5000")
        self.assertEqual(result.returncode, 0, result.stderr)
        account = json.loads(result.stdout[result.stdout.index("{\n"):])
        (ecb,) = account["ecbs"]
        self.assertEqual((ecb["firings"], ecb["predicate_hits"], ecb["faults"]), (5000, 5000, 0))
        rows = {(r["kind"], r["name"]): r for r in ecb["rows"]}
        self.assertEqual(rows["subroutine", "copyinstr"]["count"], 5000)
        self.assertEqual(rows["variable", "arg0"]["count"], 10000)
        self.assertEqual(rows["action", "count"]["count"], 5000)
        self.assertEqual(rows["opcode", "ret"]["count"], 10000)
        for row in rows.values():
            self.assertLessEqual(row["timed"], row["count"])
        self.assertGreater(rows["subroutine", "copyinstr"]["cycles"], 0)
        self.assertGreater(account["ticks_per_second"], 1e8)

    def test_table_has_a_row_for_each(self):
        result = dvm("run", "-q", "--account", "-n", TEXT, "-c", program("looper") + " 5000")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"subroutine +copyinstr +5000 ")
        self.assertRegex(result.stdout, r"variable +arg0 +10000 ")
        lines = result.stdout[result.stdout.index("KIND"):].splitlines()
        self.assertEqual([], [line for line in lines if re.match(r"    \w+ +\w+ +\d+ ", line) and len(line) != len(lines[0]) + 4])

    def test_without_it_nothing_is_printed(self):
        result = dvm("run", "-q", "-n", TEXT, "-c", program("looper") + " 50")
        self.assertNotIn("ACCOUNT", result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
