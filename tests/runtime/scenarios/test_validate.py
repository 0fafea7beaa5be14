#!/usr/bin/env python3
"""dvm cost validate on live processes: the experiments, their report, and what is refused. Figures are checked loosely,
because the machine may be busy."""

import json
import os
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import dvmtest

PENTIUM = ("--profile", "pentium4-1700")


def validate(*args):
    return dvmtest.dvm("cost", "validate", *PENTIUM, "--quick", *args, timeout=300)


class Experiments(dvmtest.PrivilegedTest):
    def test_each_way_of_measuring(self):
        with tempfile.TemporaryDirectory() as folder:
            page = os.path.join(folder, "page.md")
            rows = ("fbt", "pid", "looper", "looper_copyinstr", "latency", "stack_frames", "off_nop", "trap")
            result = validate("--json", "--report", page, *(part for row in rows for part in ("--only", row)))
            self.assertEqual(result.returncode, 0, result.stderr)
            found = json.loads(result.stdout)
            self.assertEqual([row["name"] for row in found["rows"]], list(rows))
            for row in found["rows"]:
                self.assertTrue(row["title"] and row["reference"], row)
            by_name = {row["name"]: row for row in found["rows"]}
            self.assertIn("kernel", by_name.pop("fbt")["problem"])
            for row in by_name.values():
                self.assertGreaterEqual(row["measured_spread"], 0, row)
                self.assertTrue(0 <= row["quiet_share"] <= 1, row)
                self.assertEqual("predicted" in row, row["name"] != "looper" and row["missing"] == [], row)
                self.assertEqual("error_percent" in row, row["unit"] != "clocks" and row["missing"] == [], row)
            for name in ("looper_copyinstr", "latency", "stack_frames"):
                self.assertGreater(by_name[name]["thread_ns"] + by_name[name]["dvm_ns"], 0, name)
                self.assertGreater(by_name[name]["dvm_ns"], 0, name)
            self.assertEqual(by_name["looper_copyinstr"]["missing"], ["string/captured"])
            self.assertGreater(by_name["trap"]["predicted"], 0)
            self.assertEqual(found["predicted_rows"], sum("error_percent" in row for row in by_name.values()))
            self.assertEqual(found["marker_bytes"], {"nop": 1, "load_test_branch": 10, "semaphore": 2})
            self.assertTrue(0 <= found["quiet_share"] <= 1)
            with open(page) as file:
                text = file.read()
            for name in rows:
                self.assertIn(f"| {name} |", text)
            self.assertIn("the workload's core was undisturbed in", text)
            for group in ("a", "c", "d", "e"):
                self.assertIn(f"page-{group}.svg", text)
                root = xml.etree.ElementTree.parse(os.path.join(folder, f"page-{group}.svg")).getroot()
                self.assertTrue([e for e in root if e.tag.endswith("rect")])
                texts = [e.text for e in root.iter() if e.tag.endswith("text")]
                self.assertIn("predicted", texts)
                units = [text.removesuffix(" (logarithmic)") for text in texts if text.removesuffix(" (logarithmic)") in ("%", "ns", "clocks")]
                wanted = {row["unit"] for row in found["rows"] if row["group"] == group and "problem" not in row}
                self.assertEqual(sorted(units), sorted(wanted), "an axis for each unit")

    def test_a_group_as_a_table(self):
        result = validate("--only", "c")
        self.assertEqual(result.returncode, 0, result.stderr)
        for text in ("Gregg's looper", "looper_count", "reference: 598 ns", "1 row with a prediction", "no prediction: prices are missing", "2 rows are left out, because this profile has no price of consumer/heading", "the workload's core was undisturbed in"):
            self.assertIn(text, result.stdout)

    def test_clauses_in_the_traced_thread(self):
        result = validate("--json", "--only", "agent_count", "--only", "agent_latency")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = json.loads(result.stdout)["rows"]
        self.assertEqual([row["name"] for row in rows], ["agent_count", "agent_latency"])
        for row in rows:
            self.assertNotIn("problem", row)
            self.assertIn("measured", row)

    def test_a_report_that_cannot_be_written(self):
        result = validate("--only", "looper", "--report", "/nowhere/page.md")
        self.assertEqual(result.returncode, 1)
        self.assertIn("/nowhere/page.md", result.stderr)


class Refused(unittest.TestCase):
    def test_bad_input(self):
        result = validate("--only", "nothing")
        self.assertEqual(result.returncode, 1)
        self.assertIn("--only nothing", result.stderr)
        self.assertEqual(dvmtest.dvm("cost", "validate", "--profile", "nowhere.json", "--only", "looper").returncode, 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
