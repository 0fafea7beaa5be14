"""Agents in programs that enter functions behind their first instruction, as hand-written code does."""

import subprocess
import unittest

import dvmtest
from dvmtest import program
from scenarios.test_agent import AgentTest

ROUNDS = 50
PROGRAMS = ["entered", "entered_packed", "entered_fixed"]


class Entered(AgentTest):
    def trace(self, name, script):
        command = [program(name), str(ROUNDS)]
        expected = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        result = dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-n", script, "-c", " ".join(command))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(expected, result.stdout, result.stderr)
        return result

    def test_no_agent_takes_what_is_entered(self):
        if dvmtest.missing_privilege():
            dvmtest.skip_or_fail(self, "nothing else takes these probes")
        for name in PROGRAMS:
            for probe in "entry", "return":
                with self.subTest(name, probe=probe):
                    result = self.trace(name, f"pid$target:a.out:b*_*:{probe} {{ @[probefunc] = count(); }}")
                    self.assertIn("not agent: a branch from elsewhere may lead", result.stderr)
                    self.assertNotIn("backend local (agent", result.stderr)

    def test_at_each_instruction(self):
        if dvmtest.missing_privilege():
            dvmtest.skip_or_fail(self, "nothing else takes these probes")
        for name in PROGRAMS:
            with self.subTest(name):
                self.trace(name, "pid$target:a.out:b*_*: { @ = count(); }")


if __name__ == "__main__":
    unittest.main()
