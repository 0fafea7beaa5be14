"""Agents in programs that enter functions behind their first instruction by addresses that they compute, or by an unwinder, or in
which a `ret` is not always a return."""

import pathlib
import shutil
import subprocess
import tempfile
import unittest

import dvmtest
from dvmtest import DVM, program
from scenarios.test_agent import AgentTest
from scenarios.test_unprivileged import as_user

ROUNDS = 50
PROGRAMS = ["computed", "computed_fixed"]


def printed_by(command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


class Computed(AgentTest):
    def trace(self, command, script):
        result = self.run_dvm(script, "-v", "-c", " ".join(command))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(printed_by(command), result.stdout, result.stderr)
        return result

    def test_no_agent_takes_what_is_entered(self):
        if dvmtest.missing_privilege():
            dvmtest.skip_or_fail(self, "nothing else takes these probes")
        for name in PROGRAMS:
            for probe in "entry", "return", "":
                with self.subTest(name, probe=probe):
                    self.trace([program(name), str(ROUNDS)], f"pid$target:a.out:by_*:{probe} {{ @[probefunc] = count(); }}")

    def test_returns_are_counted_once(self):
        """Or not at all: a uretprobe would end a program that throws exceptions."""
        if dvmtest.missing_privilege():
            dvmtest.skip_or_fail(self, "nothing else takes these probes")
        for function in "by_thunk", "by_steps":
            with self.subTest(function):
                command = [program("computed"), str(ROUNDS), function]
                script = f"pid$target:a.out:main:entry {{ }} pid$target:a.out:{function}:return {{ @ = count(); }}"
                result = self.trace(command, script)
                self.assertIn("not all instructions that leave the function are known", result.stderr)
                result = self.trace(command, "#pragma D option return=uretprobe\n" + script)
                self.assertEqual(result.stdout.split()[-1], str(ROUNDS))

    def test_without_privileges(self):
        """What no agent takes is a breakpoint, or refused."""
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder).chmod(0o755)
            dvm, computed = (shutil.copy(path, folder) for path in (DVM, program("computed")))
            prefix = as_user()
            privilege = shutil.copy(program("tracing_privilege"), folder)
            if dvmtest.privilege_missing_for("breakpoints", prefix, privilege):
                dvmtest.skip_or_fail(self, "users may not trace their own processes")
            for probe in "entry", "return":
                with self.subTest(probe):
                    command = [computed, str(ROUNDS)]
                    script = f"pid$target:a.out:by_*:{probe}, pid$target:a.out:main:entry {{ @[probefunc] = count(); }}"
                    traced = [*prefix, dvm, "run", "-q", "-x", "backend=agent", "-n", script, "-c", " ".join(command)]
                    result = subprocess.run(traced, capture_output=True, text=True, timeout=120)
                    self.assertIn(printed_by(command), result.stdout, result.stderr)


class Restarted(AgentTest):
    """A thread that is interrupted in such a sequence starts it again. It would not in a copy."""

    def test_restartable_sequences_stay_whole(self):
        command = [program("restarted"), "20000"]
        expected = printed_by(command)
        if not expected.startswith("sum"):
            dvmtest.skip_or_fail(self, expected)
        result = self.run_dvm("pid$target:a.out:add_one:return { @ = count(); }", "-v", "-c", " ".join(command))
        self.assertIn(expected, result.stdout, result.stderr)
        self.assertNotIn("backend local (agent", result.stderr)
        # At the instruction that adds.
        for backend in ["agent", "breakpoint"] + ([] if dvmtest.missing_privilege() else ["uprobe"]):
            with self.subTest(backend):
                script = "pid$target:a.out:add_one:16 { @ = count(); }"
                result = dvmtest.dvm("run", "-q", "-x", f"backend={backend}", "-n", script, "-c", " ".join(command))
                self.assertIn("it lies in a restartable sequence (rseq)", result.stderr)


if __name__ == "__main__":
    unittest.main()
