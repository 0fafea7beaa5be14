"""Ids, priority, ancestors and directory are those of the process at the firing, even if it changes them or ends right after it."""

import itertools
import os
import re
import subprocess
import sys
import unittest

import dvmtest
from dvmtest import dvm, program

MARK = "pid$target:owner:mark:entry"


class Owner(dvmtest.PrivilegedTest):
    """The program sets its real user to 1000, 1001 and 1002, its group to 2000 and so on, and more, after calls of mark()."""

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            dvmtest.skip_or_fail(self, "needs root, to change the user")

    def test_users_and_groups_are_those_of_the_firing(self):
        script = MARK + ' { printf("%d:%d:%d ", arg0, uid, gid); }'
        for backend, mode in itertools.product(("uprobe", "agent", "breakpoint"), ("", " thread")):
            with self.subTest(backend + mode):
                result = dvm("run", "-q", "-x", f"backend={backend}", "-n", script, "-c", program("owner") + mode)
                self.assertEqual(result.stdout.split(), ["0:0:0", "1:1000:2000", "2:1001:2001"], result.stderr)

    def test_numbers_and_directory_are_those_of_the_firing(self):
        script = MARK + """ { printf("%d:%d:%d:%d:%d:%s ", arg0, curpsinfo->pr_uid, curpsinfo->pr_sid == pid, curlwpsinfo->pr_nice,
                                      curlwpsinfo->pr_pri, arg0 ? cwd : "-"); }"""
        nice = os.nice(0)
        for backend, mode in itertools.product(("uprobe", "agent", "breakpoint"), ("", " thread")):
            with self.subTest(backend + mode):
                result = dvm("run", "-q", "-x", f"backend={backend}", "-n", script, "-c", program("owner") + mode)
                self.assertEqual(result.stdout.split(), [f"0:0:1:{20 + nice}:{120 + nice}:-", "1:1000:1:21:121:/proc/sys", "2:1001:1:22:122:/proc"], result.stderr)

    SLEEPER = "import os; print(os.getuid(), flush=True); input(); os.getppid(); input()"

    def test_users_of_another_namespace_have_the_numbers_of_this_one(self):
        for backend in ("uprobe", "agent"):
            with self.subTest(backend):
                target = subprocess.Popen(["unshare", "-U", sys.executable, "-c", self.SLEEPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                self.addCleanup(target.communicate)
                self.addCleanup(target.kill)
                if target.stdout.readline() in ("0\n", ""):
                    dvmtest.skip_or_fail(self, "there are no user namespaces here")
                script = 'pid$target:libc:getppid:entry { printf("%d:%d:%d:%d\\n", uid, gid, curpsinfo->pr_uid, curpsinfo->pr_egid); exit(0); }'
                tracer = dvmtest.start_tracer(self, script, "-x", f"backend={backend}", "-p", str(target.pid))
                target.stdin.write("\n")
                target.stdin.flush()
                self.assertEqual(tracer.stdout.readline(), "0:0:0:0\n")

    def test_an_agent_asks_for_ids_by_system_calls(self):
        script = MARK + ' { printf("%d:%d:%d:%d:%s ", arg0, curpsinfo->pr_uid, curpsinfo->pr_gid, curpsinfo->pr_ppid != 0, curlwpsinfo->pr_clname); }'
        result = dvm("run", "-v", "-q", "-x", "backend=agent", "-n", script, "-c", program("owner"))
        self.assertEqual(result.stdout.split()[-3:], ["0:0:0:1:TS", "1:1000:2000:1:TS", "2:1001:2001:1:TS"], result.stderr)
        self.assertIn("backend local (agent", result.stderr)

    def test_a_predicate_finds_all_firings_of_a_user(self):
        script = "syscall::setresuid:entry,syscall::setresuid:return /pid == $target && uid == 1001/ { @[probename] = count(); }"
        result = dvm("run", "-q", "-n", script, "-c", program("owner"))
        self.assertEqual(dict(re.findall(r"(\w+) +(\d+)", result.stdout)), {"return": "1", "entry": "1"})

    CHILDREN = MARK + ' { @[ppid == $target ? "child" : "other", uid] = count(); }'
    GONE = MARK + ' /arg0 && progenyof($target) && !progenyof(1 << 30)/ { @[cwd, curlwpsinfo->pr_nice, execargs != ""] = count(); }'

    def test_processes_that_are_soon_gone_have_numbers_and_ancestors(self):
        for backend in ("uprobe", "agent"):
            with self.subTest(backend):
                result = dvm("run", "-q", "-x", "followfork", "-x", f"backend={backend}", "-n", self.GONE, "-c", f"{program('owner')} 10")
                rows = sorted(line.split() for line in result.stdout.splitlines() if line)
                self.assertEqual(rows, [["/proc", "22", "1", "10"], ["/proc/sys", "21", "1", "10"]], result.stderr)

    EXPECTED = [("child", "0", "10"), ("child", "1000", "10"), ("child", "1001", "10")]

    def rows(self, result):
        return sorted(re.findall(r"(\w+) +(\d+) +(\d+)", result.stdout))

    def test_the_parent_of_a_process_that_is_soon_gone_is_known(self):
        for backend in ("uprobe", "agent"):
            with self.subTest(backend):
                result = dvm("run", "-q", "-x", "followfork", "-x", f"backend={backend}", "-n", self.CHILDREN, "-c", f"{program('owner')} 10")
                self.assertEqual(self.rows(result), self.EXPECTED, result.stderr)

    def test_a_recording_has_the_parent(self):
        path = os.path.join(dvmtest.own_folder(self), "owner.dvm")
        script = MARK + ' { @[ppid == $target ? "child" : "other", 0] = count(); }'
        recorded = dvm("record", "-q", "-o", path, "-x", "followfork", "-n", script, "-c", f"{program('owner')} 10")
        replayed = dvm("replay", "-q", path, "-n", script)
        for result in (recorded, replayed):
            self.assertEqual(self.rows(result), [("child", "0", "30")], result.stderr)


if __name__ == "__main__":
    unittest.main()
