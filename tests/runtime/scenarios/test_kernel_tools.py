"""The ready scripts of tools/ that see the whole system."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import dvmtest
import tool_runs
from dvmtest import dvm, program


class OfTheSystem(tool_runs.ToolTest):
    def test_rows_in_json_have_names(self):
        tools = (["syscount"], ["opensnoop", "-n", "cat"], ["execsnoop", "-n", "cat"], ["runqlat"], ["profile"], ["profile", "-k"], ["offcputime", "-k"])
        for words, rows in zip(tools, self.while_running("cat /etc/passwd; sleep 0.05", of=lambda: dvmtest.together(
                lambda words: self.rows(*words, "-d", "2"), tools))):
            self.assertTrue(rows, words)

    def test_tools_of_a_process_end_with_it(self):
        def ends(words):
            seconds = 10  # it is to live until the probes of all tools are placed, also on a loaded machine
            with subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({seconds})"]) as process:
                result = dvm("tool", *words, "-p", str(process.pid), timeout=120)
                self.assertEqual(result.returncode, 0, (words, result.stderr))
                self.assertRegex(result.stderr, r"^(dvm: \d+ stacks? (is|are) cut, .*\n)?$", words)
                self.assertIsNotNone(process.poll(), words)

        dvmtest.together(ends, (["opensnoop"], ["syscount"], ["profile"], ["profile", "-k"], ["runqlat"], ["offcputime"], ["offcputime", "-k"],
                                ["funccount", "nanosleep", "libc*"], ["memleak"], ["threadsnoop"]))

    def test_execsnoop(self):
        output = self.while_running("/bin/true one two; sleep 0.1", "execsnoop", "-n", "true", "-d", "2")
        self.assertRegex(output, r"^TIME\(ms\) +PID +PPID +UID +ARGS\n")
        self.assertRegex(output, r"(?m)^\d+ +\d+ +\d+ +0 +/bin/true one two$")

    def test_opensnoop(self):
        output = self.while_running("cat /etc/passwd /nosuch; sleep 0.1", "opensnoop", "-n", "cat", "-d", "2")
        self.assertRegex(output, r"(?m)^\d+ +cat +\d+ +0 /etc/passwd$")
        self.assertRegex(output, r"(?m)^\d+ +cat +-1 +2 /nosuch$")
        output = self.while_running("cat /etc/passwd /nosuch; sleep 0.1", "opensnoop", "-n", "cat", "-e", "-d", "2")
        self.assertIn("/nosuch", output)
        self.assertNotIn("/etc/passwd", output)

    def test_syscount(self):
        output = self.while_running("cat /etc/passwd; sleep 0.1", "syscount", "-d", "2")
        self.assertRegex(output, r"(?m)^read +\d+ +\d+$")
        self.assertNotRegex(output, r"(?m) 0 +\d+$")
        output = self.while_running("cat /etc/passwd; sleep 0.1", "syscount", "-P", "-d", "2")
        self.assertRegex(output, r"(?m)^cat +\d+ +\d+$")

    def test_profile(self):
        output = self.while_running(program("looper") + " 100000000", "profile", "-d", "2")
        self.assertRegex(output, r"looper *\n +looper`(func|main)")

    def test_profile_with_the_kernel(self):
        output = self.while_running("dd if=/dev/zero of=/dev/null bs=1 count=300000", "profile", "-k", "-d", "2")
        self.assertRegex(output, r"dd *\n(?: +vmlinux`[\w.]+\+0x\w+\n)+")

    def test_offcputime(self):
        process = subprocess.Popen(["python3", "-c", "import time\nwhile True: time.sleep(0.1)"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        output = self.tool("offcputime", "-p", str(process.pid), "-d", "2")
        self.assertRegex(output, r"python\S* *\n +libc\.so\.6`\w*(nanosleep|select)\+")
        self.assertGreater(max(dvmtest.numbers(re.sub(r"0x[0-9a-f]+", "", output))), 100_000, output)

    def test_offcputime_in_the_kernel(self):
        process = subprocess.Popen(["python3", "-c", "import time\nwhile True: time.sleep(0.1)"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        output = self.tool("offcputime", "-k", "-p", str(process.pid), "-d", "2")
        self.assertRegex(output, r"python\S* *\n(?: +vmlinux`[\w.]+\+0x\w+\n)*? +vmlinux`\w*nanosleep\+")
        self.assertGreater(max(dvmtest.numbers(re.sub(r"0x[0-9a-f]+", "", output))), 100_000, output)

    def test_offcputime_in_the_kernel_and_the_program(self):
        if b"sched_exit_tp" not in pathlib.Path("/sys/kernel/btf/vmlinux").read_bytes():
            self.skipTest("the kernel has no tracepoint sched_exit_tp")
        process = subprocess.Popen(["python3", "-c", "import time\nwhile True: time.sleep(0.1)"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        output = self.tool("offcputime", "-b", "-p", str(process.pid), "-d", "2")
        self.assertRegex(output, r"(?s)python\S* *\n(?: +vmlinux`[\w.]+\+0x\w+\n)+.* libc\.so\.6`\w*(nanosleep|select)\+")

    def test_runqlat(self):
        output = self.while_running("sleep 0.01", "runqlat", "-d", "2")
        self.assertRegex(output, r"^microseconds\nall programs\n +value  -+ Distribution -+ count")

    def test_biolatency(self):
        # A dd that was just killed may still close its file: the folder then cannot be removed at the first try.
        with tempfile.TemporaryDirectory(dir="/var/tmp", ignore_cleanup_errors=True) as folder:
            output = self.while_running(f"dd if=/dev/zero of={folder}/x bs=64k count=4 oflag=direct conv=fsync", "biolatency", "-d", "2")
        self.assertTrue(output.startswith("microseconds\n"), output)


if __name__ == "__main__":
    unittest.main()
