"""Ids of threads and processes are reused: variables and names of one do not pass to the next with its id."""

import unittest

import dvmtest
from dvmtest import dvm, program


class Numbers(dvmtest.PrivilegedTest):
    """The program has three children with one process id, each of which fires twice."""

    def counted(self, *args):
        result = dvm("run", "-q", *args, "-c", program("numbers"))
        if "clone3" in result.stdout + result.stderr:
            dvmtest.skip_or_fail(self, "no process may choose its number here")
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.split()

    EXPECTED = ["0:1", "0:2", "1:1", "1:2", "2:1", "2:2"]

    def test_thread_local_variables_end_with_their_thread(self):
        script = 'pid$target:numbers:mark:entry { self->n++; printf("%d:%d ", arg0, self->n); }'
        for backend in ("uprobe", "agent"):
            with self.subTest(backend):
                self.assertEqual(self.counted("-x", "followfork", "-x", f"backend={backend}", "-n", script), self.EXPECTED)

    def test_thread_local_arrays_end_with_their_thread(self):
        script = 'pid$target:numbers:mark:entry { self->n["calls", 1]++; printf("%d:%d ", arg0, self->n["calls", 1]); }'
        self.assertEqual(self.counted("-x", "followfork", "-n", script), self.EXPECTED)

    def test_at_system_calls(self):
        script = 'syscall::getppid:entry /execname == "numbers"/ { printf("%d ", ++self->n); }'
        self.assertEqual(self.counted("-n", script), ["1", "1", "1"])


if __name__ == "__main__":
    unittest.main()
