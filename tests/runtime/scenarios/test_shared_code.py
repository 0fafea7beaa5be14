"""Code that is mapped as shared: nothing is written into its file, which other processes run as well."""

import pathlib
import shutil
import subprocess
import unittest

import dvmtest
from dvmtest import program

LIBRARY = pathlib.Path(program("shared_code")).parent / "libplain_library.so"
PROBE = "pid$target:shared.so:plain_function:entry { @ = count(); }"


class SharedCode(dvmtest.FolderTest):
    def setUp(self):
        super().setUp()
        self.library = str(shutil.copy(LIBRARY, self.folder / "shared.so"))

    def start(self, access):
        target = subprocess.Popen([program("shared_code"), self.library, access], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.addCleanup(target.communicate)
        self.addCleanup(target.kill)
        self.assertEqual(target.stdout.readline(), "1\n")
        return target

    def ask(self, target, expected):
        target.stdin.write("\n")
        self.assertEqual(target.stdout.readline(), f"{expected}\n")

    def test_an_agent_writes_nothing_into_the_file(self):
        target, other = self.start("w"), self.start("w")
        tracer = dvmtest.start_tracer(self, PROBE + " tick-30s { exit(0); }", "-Z", "-x", "backend=agent", "-p", str(target.pid))
        self.assertEqual(pathlib.Path(self.library).read_bytes(), LIBRARY.read_bytes())
        self.ask(target, 2)
        self.ask(other, 2)
        tracer.terminate()
        tracer.wait()
        self.ask(target, 3)

    def test_a_uprobe_is_refused_in_words(self):
        if reason := dvmtest.missing_privilege():
            dvmtest.skip_or_fail(self, reason)
        for access in "rw":
            for backend in ("uprobe", "agent"):
                with self.subTest(access=access, backend=backend):
                    target = self.start(access)
                    result = dvmtest.dvm("run", "-q", "-x", f"backend={backend}", "-n", PROBE + " tick-100ms { exit(0); }", "-p", str(target.pid))
                    self.assertIn("mapped as shared, where the kernel places no uprobes", result.stderr)

    def test_a_uprobe_is_placed_where_the_code_is_private_as_well(self):
        if reason := dvmtest.missing_privilege():
            dvmtest.skip_or_fail(self, reason)
        target = self.start("p")
        tracer = dvmtest.start_tracer(self, PROBE, "-x", "backend=uprobe", "-p", str(target.pid))
        self.ask(target, 2)
        tracer.terminate()
        self.assertEqual(tracer.communicate()[0].split(), ["1"])


if __name__ == "__main__":
    unittest.main()
