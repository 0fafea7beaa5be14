"""uid, gid and ppid are those of the process at the firing, even if it changes them or ends right after it."""

import itertools
import os
import re
import unittest

import dvmtest
from dvmtest import dvm, program

MARK = "pid$target:owner:mark:entry"


class Owner(dvmtest.PrivilegedTest):
    """The program sets its real user to 1000, 1001 and 1002, and its group to 2000 and so on, after calls of mark()."""

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

    def test_a_predicate_finds_all_firings_of_a_user(self):
        script = "syscall::setresuid:entry,syscall::setresuid:return /pid == $target && uid == 1001/ { @[probename] = count(); }"
        result = dvm("run", "-q", "-n", script, "-c", program("owner"))
        self.assertEqual(dict(re.findall(r"(\w+) +(\d+)", result.stdout)), {"return": "1", "entry": "1"})

    CHILDREN = MARK + ' { @[ppid == $target ? "child" : "other", uid] = count(); }'
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
