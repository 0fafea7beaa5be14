"""dvm doctor and dvm --version: what works here, and why the rest does not."""

import json
import os
import pathlib
import re
import subprocess
import unittest

import dvmtest
from dvmtest import DVM, ROOT, dvm


def names():
    table = (ROOT / "cmd/doctor_checks.def").read_text()
    return re.findall(r"^DVM_CHECK\((\w+),", table, re.M)


class Doctor(unittest.TestCase):
    NOBODY = ("setpriv", "--reuid=65534", "--clear-groups", "--bounding-set=-all", "--inh-caps=-all")

    def checks(self, *prefix, settings=None):
        """The rows, with the prefix before dvm; `settings` replaces files of /proc/sys/kernel."""
        command = [*prefix, DVM, "doctor", "--json"]
        if settings is not None:
            script = "mount -t tmpfs none /proc/sys/kernel; "
            for name, value in settings.items():
                script += f"mkdir -p $(dirname /proc/sys/kernel/{name}); echo {value} > /proc/sys/kernel/{name}; "
            command = ["unshare", "-m", "sh", "-c", script + 'exec "$@"', "sh", *command]
        result = subprocess.run(command, capture_output=True, text=True, env=dvmtest.ENV)
        found = json.loads(result.stdout)
        self.assertEqual(result.returncode, 0 if found["usable"] else 1, result.stderr)
        return found["usable"], {check["name"]: check for check in found["checks"]}

    def test_every_row_of_the_table_is_examined(self):
        _, checks = self.checks()
        self.assertEqual(list(checks), names())
        result = dvm("doctor")
        self.assertEqual(re.findall(r"^(\w+) +(?:works|does not work)", result.stdout, re.M), names())

    def test_what_does_not_work_has_a_reason(self):
        usable, checks = self.checks()
        for check in checks.values():
            self.assertEqual(check["works"], check["reason"] == "", check)
        self.assertEqual(usable, all(check["works"] for check in checks.values() if check["needed"]))

    def test_it_agrees_with_the_tests_on_what_is_permitted(self):
        usable, checks = self.checks()
        self.assertEqual(usable, dvmtest.missing_privilege() is None, checks)
        self.assertEqual(checks["breakpoints"]["works"], dvmtest.privilege_missing_for("breakpoints") is None, checks)

    def test_a_user_without_privileges_gets_the_command(self):
        if os.geteuid() != 0:
            dvmtest.skip_or_fail(self, "needs root to become another user")
        usable, checks = self.checks(*self.NOBODY)
        self.assertFalse(usable)
        self.assertEqual(checks["capabilities"]["reason"], "CAP_BPF and CAP_PERFMON missing")
        self.assertIn("setcap cap_bpf,cap_perfmon+ep", checks["capabilities"]["remedy"])
        self.assertIn("Operation not permitted", checks["bpf"]["reason"])
        self.assertTrue(checks["kernel"]["works"])
        self.assertTrue(checks["agent"]["works"], checks["agent"])
        self.assertRegex(checks["kallsyms"]["remedy"], r"setcap cap_bpf,cap_perfmon,cap_syslog\+ep /|sysctl kernel.kptr_restrict=1")

    def test_root_of_a_container_without_capabilities_gets_its_command(self):
        if os.geteuid() != 0:
            dvmtest.skip_or_fail(self, "needs root")
        usable, checks = self.checks("setpriv", "--bounding-set=-all", "--inh-caps=-all")
        self.assertFalse(usable)
        self.assertEqual(checks["bpf"]["remedy"], "docker run --cap-add=bpf --cap-add=perfmon ...")

    def test_settings_are_named_with_the_command_that_changes_them(self):
        if os.geteuid() != 0:
            dvmtest.skip_or_fail(self, "needs root to mount")
        for scope, works, remedy in ((0, True, ""), (1, False, "sudo sysctl kernel.yama.ptrace_scope=0"),
                                     (2, False, "sudo sysctl kernel.yama.ptrace_scope=0"), (3, False, "")):
            _, checks = self.checks(*self.NOBODY, settings={"yama/ptrace_scope": scope})
            row = checks["ptrace"]
            self.assertEqual((row["works"], row["remedy"]), (works, remedy), row)
            self.assertIn(f"kernel.yama.ptrace_scope is {scope}", row["reason"] + row["detail"])
        _, checks = self.checks(settings={"perf_event_paranoid": 1, "kptr_restrict": 1})
        self.assertEqual(checks["ptrace"]["detail"], "kernel.yama.ptrace_scope is not set")
        self.assertEqual(checks["breakpoints"]["detail"] or "kernel.perf_event_paranoid is 1", "kernel.perf_event_paranoid is 1")

    def test_cpp_is_looked_for_in_path(self):
        result = dvm("doctor", "--json", env=dict(dvmtest.ENV, PATH="/nowhere"))
        check = {c["name"]: c for c in json.loads(result.stdout)["checks"]}["preprocessor"]
        self.assertEqual((check["works"], check["reason"]), (False, "cpp is not in PATH"))


class Version(unittest.TestCase):
    def test_it_names_commit_engines_and_backends(self):
        for flag in ("--version", "-V"):
            lines = dvm(flag).stdout.splitlines()
            self.assertRegex(lines[0], r"^dvm \d+\.\d+\.\d+ \(commit (unknown|[0-9a-f]{12})\)$")
            rows = re.findall(r"^DVM_ENGINE\((\w+)", (ROOT / "vm/engine/engines.def").read_text(), re.M)
            self.assertEqual(re.findall(r"(?:: |, )(\w+)", re.sub(r" \(.*?\)", "", lines[1])), rows)
            self.assertRegex(lines[2], r"^backends: local \((?=.*uprobe)(?=.*agent)(?=.*breakpoint)(?=.*timer).*replay\)$")

    def test_the_commit_is_the_one_that_was_built(self):
        git = subprocess.run(["git", "-C", ROOT, "cat-file", "-t", re.search(r"commit (\w+)", dvm("-V").stdout)[1]],
                             capture_output=True, text=True)
        if not (pathlib.Path(ROOT) / ".git").exists():
            self.skipTest("no clone")
        self.assertEqual(git.stdout, "commit\n", git.stderr)


if __name__ == "__main__":
    unittest.main()
