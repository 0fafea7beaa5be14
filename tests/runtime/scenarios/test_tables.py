"""Agents in functions that jump by tables, as compilers make them of `switch`."""

import subprocess
import unittest

import dvmtest
from dvmtest import program
from scenarios.test_agent import AgentTest

KINDS = "0123456701726354"  # each case, after several others
LED_INTO = ["into_entry:entry", "into_exit:return"]
TAKEN = ["into_exit:entry", "machine:entry", "machine:return", "once:entry"]


class Tables(AgentTest):
    def trace(self, name, script):
        command = [program(name), KINDS]
        expected = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        result = dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-n", script, "-c", " ".join(command))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(expected, result.stdout, result.stderr)
        return result

    def test_those_that_a_table_does_not_lead_into_are_taken(self):
        for name in "tables", "tables_fixed":
            with self.subTest(name):
                probes = ", ".join(f"pid$target:a.out:{one}" for one in TAKEN)
                result = self.trace(name, probes + " { @[probefunc, probename] = count(); }")
                self.assertNotIn("not agent:", result.stderr)
                rows = [line.split() for line in result.stdout.splitlines()]
                calls = 200 * len(KINDS)
                self.assertIn(["into_exit", "entry", str(calls)], rows)
                self.assertIn(["once", "entry", str(calls)], rows)
                machines = str(calls + calls // 2)  # once() calls it in every other case
                self.assertIn(["machine", "entry", machines], rows)
                self.assertIn(["machine", "return", machines], rows)

    def test_those_that_a_table_leads_into_are_not(self):
        for name in "tables", "tables_fixed":
            for probe in LED_INTO:
                with self.subTest(name, probe=probe):
                    result = self.trace(name, f"pid$target:a.out:{probe} {{ @ = count(); }}")
                    self.assertIn("not agent: a branch leads into", result.stderr)
                    self.assertIn(str(200 * len(KINDS)), result.stdout.split())

    def test_all_together(self):
        for name in "tables", "tables_fixed":
            with self.subTest(name):
                self.trace(name, "pid$target:a.out::entry, pid$target:a.out::return { @[probename] = count(); }")


if __name__ == "__main__":
    unittest.main()
