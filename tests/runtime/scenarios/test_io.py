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
              started[arg0] = args[0]->b_blkno + 1; @started = sum((args[0]->b_flags & (B_DONE | B_ERROR)) == 0);
              printf("start %s %s %d %d %d\\n", args[1]->dev_statname, args[1]->dev_pathname, args[1]->dev_major, args[1]->dev_minor,
                     args[0]->b_edev == ((args[1]->dev_major << 20) | args[1]->dev_minor)); }
            io:::done /started[arg0] && started[arg0] == args[0]->b_blkno + 1 && args[0]->b_bcount == 65536/ {
              @done[args[0]->b_error, args[0]->b_resid] = sum((args[0]->b_flags & (B_DONE | B_ERROR)) == B_DONE); started[arg0] = 0; }
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
        text = self.write_blocks("""io:::start { printf("%s %s %d %s", args[1]->dev_name, args[2]->fi_pathname, args[1]->dev_instance,
                                    args[2]->fi_fs); printf(" %d %d\\n", (uintptr_t)args[0]->b_addr, (uintptr_t)args[0]->b_iodone); exit(0); }""")
        self.assertEqual(text.strip(), "<unknown> <unknown> -1 <unknown> 0 0")

    def test_waits_are_refused_by_name(self):
        result = dvm("run", "-n", "io:::wait-start { exit(0); }")
        self.assertEqual(result.returncode, 1)
        self.assertIn("the kernel has no tracepoint for io:::wait-start", result.stderr)

    def test_statistics_count_what_a_program_does(self):
        command = "dd if=/dev/zero of=/dev/null bs=1000 count=500 status=none"
        text = self.run_script("""
            sysinfo:::sysread, sysinfo:::readch, sysinfo:::syswrite, sysinfo:::writech, sysinfo:::sysexec, vminfo:::as_fault
            /pid == $target && execname == "dd"/ { @[probename] = sum(arg0); @odd = sum(arg1); }
            syscall::read:return, syscall::write:return /pid == $target && execname == "dd" && arg0 == 1000/ { @[probefunc] = sum(1); }
            END { printa("%s %@d\\n", @); printa("odd %@d\\n", @odd); }""", command)
        found = dict(re.findall(r"(?m)^(\S+) (\d+)$", text))
        self.assertEqual((found["read"], found["write"], found["odd"]), ("500", "500", "0"), text)
        for calls, moved in (("sysread", "readch"), ("syswrite", "writech")):
            self.assertGreaterEqual(int(found[calls]), 500)
            self.assertGreaterEqual(int(found[moved]), 500_000)
        self.assertGreater(int(found["as_fault"]), 10)
        self.assertEqual(int(found["writech"]), 500_000)

    def test_page_faults_are_those_at_addresses_of_the_process(self):
        # Each page is touched once, half of them by the kernel; a fault may bring in more than one, or be taken twice.
        script = "import mmap\nm = mmap.mmap(-1, 4096 * 4000)\nm.madvise(mmap.MADV_NOHUGEPAGE)\nfor i in range(2000): m[4096 * i] = 1\n" \
                 "open('/dev/zero', 'rb', 0).readinto(memoryview(m)[4096 * 2000:])"
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(script)
            file.flush()
            text = self.run_script("vminfo:::as_fault /pid == $target/ { @ = sum(arg0); } END { printa(\"faults %@d\\n\", @); }",
                                   f"/usr/bin/python3 -S -E {file.name}")
        self.assertGreater(int(re.search(r"faults (\d+)", text)[1]), 4000)

    def test_page_faults_of_captures_do_not_count(self):
        # /dev/null reads nothing, so the pages stay away; Linux counts the faults that it serves.
        script = "import mmap, os, resource\nm = memoryview(mmap.mmap(-1, 4096 * 2000))\nout = os.open('/dev/null', 1)\n" \
                 "for i in range(2000): os.write(out, m[4096 * i:][:8])\nused = resource.getrusage(resource.RUSAGE_SELF)\n" \
                 "print('served', used.ru_minflt + used.ru_majflt)"
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(script)
            file.flush()
            result = dvm("run", "-q", "-c", f"/usr/bin/python3 -S -E {file.name}", "-n", """
                syscall::write:entry /pid == $target/ { @tried = count(); this->text = copyinstr(arg1); }
                ERROR { }
                vminfo:::as_fault /pid == $target/ { @ = sum(arg0); }
                END { printa("tried %@d faults %@d\\n", @tried, @); }""")
        self.assertEqual(result.returncode, 0, result.stderr)
        tried, faults = map(int, re.search(r"tried (\d+) faults (\d+)", result.stdout).groups())
        self.assertGreaterEqual(tried, 2000)
        self.assertLess(faults, int(re.search(r"served (\d+)", result.stdout)[1]) + 1000)

    def test_statistics_without_a_tracepoint_are_refused_by_name(self):
        for name in ("vminfo:::zfod", "sysinfo:::namei"):
            result = dvm("run", "-n", name + " { exit(0); }")
            self.assertEqual(result.returncode, 1)
            self.assertIn(f"the kernel has no tracepoint for {name}", result.stderr)


if __name__ == "__main__":
    unittest.main()
