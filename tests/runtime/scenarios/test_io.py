"""The providers io, vminfo and sysinfo: requests to disks, and what increments statistics of the kernel."""

import os
import re
import tempfile
import unittest

import dvmtest
from dvmtest import dvm

BLOCKS = 20


def has_disk():
    """Whether /var/tmp lies on a device with a queue of requests."""
    device = os.stat("/var/tmp").st_dev
    return os.path.exists(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}")


class Io(dvmtest.PrivilegedTest):
    def run_script(self, script, command):
        result = dvm("run", "-q", "-n", script, "-c", command)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def write_blocks(self, script):
        if not has_disk():
            dvmtest.skip_or_fail(self, "/var/tmp does not lie on a disk")
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            return self.run_script(script, f"dd if=/dev/zero of={folder}/x bs=64k count={BLOCKS} oflag=direct conv=fsync status=none")

    def test_requests_name_disk_size_and_direction(self):
        text = self.write_blocks("""
            io:::start /pid == $target && args[0]->b_flags & B_WRITE && args[0]->b_bcount == 65536/ {
              started[arg0] = args[0]->b_blkno + 1; @started = count();
              printf("start %s %s %d %d %d\\n", args[1]->dev_statname, args[1]->dev_pathname, args[1]->dev_major, args[1]->dev_minor,
                     args[0]->b_edev == ((args[1]->dev_major << 8) | args[1]->dev_minor)); }
            io:::done /started[arg0] && started[arg0] == args[0]->b_blkno + 1 && args[0]->b_bcount == 65536/ {
              @done[args[0]->b_error, args[0]->b_resid] = count(); started[arg0] = 0; }
            END { printa("started %@d\\n", @started); printa("done %d %d %@d\\n", @done); }""")
        started = int(re.search(r"(?m)^started (\d+)$", text)[1])
        self.assertGreaterEqual(started, BLOCKS // 2, text)  # the kernel may split or merge some
        self.assertEqual(re.findall(r"(?m)^done .*$", text), [f"done 0 0 {started}"], text)
        name, path, major, minor, is_same = re.search(r"(?m)^start (\S+) (\S+) (\d+) (\d+) (\d)$", text).groups()
        self.assertTrue(os.path.isdir(f"/sys/block/{name}"), text)
        self.assertEqual((path, is_same), ("/dev/" + name, "1"))
        with open(f"/sys/block/{name}/dev") as numbers:
            self.assertEqual(numbers.read().strip(), f"{major}:{minor}")

    def test_what_linux_does_not_say_is_unknown(self):
        text = self.write_blocks("""io:::start { printf("%s %s %d %s\\n", args[1]->dev_name, args[2]->fi_pathname, args[1]->dev_instance,
                                    args[2]->fi_fs); exit(0); }""")
        self.assertEqual(text.strip(), "<unknown> <unknown> -1 <unknown>")

    def test_waits_are_refused_by_name(self):
        result = dvm("run", "-n", "io:::wait-start { exit(0); }")
        self.assertEqual(result.returncode, 1)
        self.assertIn("the kernel has no tracepoint for io:::wait-start", result.stderr)

