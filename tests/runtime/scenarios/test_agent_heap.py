"""Clauses that read memory which the program takes away: each string is right, or a fault, and the program is unharmed."""

import collections
import pathlib
import re
import unittest

import dvmtest
from dvmtest import program
from scenarios.test_agent import AgentTest

PATIENCE = 60  # seconds: a loaded machine is slow, not wrong
LIBRARY = str(pathlib.Path(program("vanishing")).parent / "libvanishing_library.so")
ENTRY, RETURN = "pid$target:a.out:work:entry", "pid$target:a.out:work:return"
ERRORS = ' ERROR { @e = count(); } END { printa("%@d faults\\n", @e); }'
COUNTED = ' END { printa("%@d %s|\\n", @); }' + ERRORS
BY_STRING = ENTRY + " { @[copyinstr(arg0)] = count(); }" + COUNTED
IN_THREAD = "(agent, in the traced thread"


class HeapTest(AgentTest):
    def run_on(self, script, command, *options):
        environment = dict(dvmtest.ENV, LIBRARY=LIBRARY)
        result = dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-x", "ringsize=64m", *options, "-n", script, "-c", command, env=environment, timeout=PATIENCE)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    @staticmethod
    def seen(result):
        """How often dvm has seen each string, and faults (None)."""
        seen = collections.Counter({text: int(times) for times, text in re.findall(r"(?m)^(\d+) (.*)\|$", result.stdout)})
        seen.update(re.findall(r"(?m)^\|(.*)\|$", result.stdout))
        seen[None] += sum(map(int, re.findall(r"(?m)^(\d+) faults$", result.stdout)))
        return seen


class Vanishing(HeapTest):
    """Memory that is gone at known firings."""

    @staticmethod
    def passed(result):
        passed = collections.Counter({text: int(times) for times, text in re.findall(r"(?m)^= (\d+) (.*)\|$", result.stdout)})
        passed[None] += int(re.search(r"(?m)^= (\d+) faults$", result.stdout)[1])
        return passed

    def check(self, script, command, is_in_thread=True):
        with self.subTest(script, command=command):
            result = self.run_on(script, command)
            self.assertEqual(self.seen(result), self.passed(result), result.stderr)
            self.assertNotIn("removed", result.stderr)
            if is_in_thread:
                self.assertIn(IN_THREAD, result.stderr)

    def test_all_strings_and_faults_are_seen(self):
        self.check(BY_STRING, program("vanishing"))
        self.check(f"{ENTRY} {{ self->t = copyinstr(arg0); }} {RETURN} /self->t != NULL/ {{ @[self->t] = count(); self->t = NULL; }}" + COUNTED, program("vanishing"))
        self.check(ENTRY + ' { printf("|%s|\\n", copyinstr(arg0)); }' + ERRORS, program("vanishing"), False)

    def test_in_a_library_that_is_closed(self):
        self.check(BY_STRING, program("vanishing") + " unload unmap")

    def test_by_calls_that_no_file_has(self):
        self.check(BY_STRING, program("vanishing") + " unmap copied protect")

    def test_by_calls_of_the_program_itself(self):
        self.check(BY_STRING, program("vanishing_own") + " own unmap")


if __name__ == "__main__":
    unittest.main()
