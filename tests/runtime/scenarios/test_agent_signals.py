"""Programs that handle signals while an agent attaches: their firings are collected."""

import subprocess
import unittest

from dvmtest import program
from scenarios.test_agent import AgentTest

ATTEMPTS = 8  # a handler that comes in between is a matter of luck
CALLED = "pid$target:alarmed:called:entry { %s } tick-300ms { exit(0); }"


class Alarmed(AgentTest):
    def setUp(self):
        super().setUp()
        self.target = subprocess.Popen([program("alarmed"), "3000"])
        self.addCleanup(self.target.wait)
        self.addCleanup(self.target.kill)

    def test_every_attempt_to_attach_collects(self):
        for action in ("@ = count();", "@[arg0 * 0, execname] = count();"):  # in the thread, and by a record
            for attempt in range(ATTEMPTS):
                with self.subTest(action, attempt=attempt):
                    result = self.run_dvm(CALLED % action, "-p", str(self.target.pid))
                    self.assertEqual((result.returncode, result.stderr), (0, ""))
                    self.assertRegex(result.stdout, r"[1-9]\d*\n")
        self.assertIsNone(self.target.poll())


if __name__ == "__main__":
    unittest.main()
