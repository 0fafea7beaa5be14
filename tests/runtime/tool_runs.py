"""Runs the ready scripts of tools/ for their tests."""

import json
import os
import re
import signal
import subprocess

import dvmtest
from dvmtest import dvm


class ToolTest(dvmtest.PrivilegedTest):
    def tool(self, *words, status=0):
        result = dvm("tool", *words)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stdout

    def while_running(self, command, *words, of=None):
        """The tool's output, or what `of` makes of it, over a time in which the command runs again and again."""
        process = subprocess.Popen(["sh", "-c", f"while :; do {command}; done"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            return (of or self.tool)(*words)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def rows(self, *words):
        """The rows of the tool in JSON, and the columns that its page names."""
        lines = [json.loads(line) for line in self.tool(*words, "--json").splitlines() if line.startswith("{")]
        rows = []
        for action in (action for line in lines for action in line.get("actions", [])):
            rows += [one["row"] for one in [action, *action.get("rows", [])] if "row" in one]
        columns = [set(names.split(", ")) for names in re.findall(r"(?m)^Columns.*: (.*)$", dvm("tool", words[0], "--help").stdout)]
        for row in rows:
            self.assertIn(set(row), columns, words)
        return rows
