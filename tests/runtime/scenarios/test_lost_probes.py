"""Probes of an agent in processes that change while they are traced."""

import os
import subprocess
import unittest

import dvmtest
from dvmtest import program


class Asked(dvmtest.PrivilegedTest):
    """A program that does something for each line of its input, and says then how many calls it has made."""

    def start(self, *words, prefix=()):
        self.target = subprocess.Popen([*prefix, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.addCleanup(self.target.communicate)
        self.addCleanup(self.target.kill)
        self.assertEqual(self.target.stdout.readline(), "0\n")

    def ask(self):
        self.target.stdin.write("\n")
        return int(self.target.stdout.readline())


class TextOfHeir(dvmtest.Text):
    """Of a process whose first thread has ended."""

    def changed(self):
        heir = next(thread for thread in os.listdir(f"/proc/{self.pid}/task") if int(thread) != self.pid)
        with open(f"/proc/{self.pid}/task/{heir}/mem", "rb") as memory:
            memory.seek(self.begin)
            return memory.read(len(self.original)) != self.original


class WithoutFirstThread(Asked):
    def test_all_probes_are_taken_off(self):
        for ends in ("exits", "is killed"):
            with self.subTest(ends):
                self.start(program("renewed"), "heir")
                text = TextOfHeir(self.target.pid, "renewed")
                tracer = dvmtest.start_tracer(self, "pid$target:renewed:func:entry { @ = count(); }", "-x", "backend=agent", "-p", str(self.target.pid))
                self.assertEqual((self.ask(), self.ask()), (0, 10))
                self.assertTrue(text.changed())
                tracer.terminate() if ends == "exits" else tracer.kill()
                out, err = tracer.communicate()
                self.assertTrue(dvmtest.eventually(lambda: not text.changed()))
                self.assertEqual((out.split(), err), (["10"], "") if ends == "exits" else ([], ""))


if __name__ == "__main__":
    unittest.main()
