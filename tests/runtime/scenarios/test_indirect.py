"""Indirect functions: strlen is traced by its name, whichever of its variants the process uses."""

import unittest

import dvmtest
from dvmtest import dvm, program

MEASURED = 'copyinstr(arg0) == "to be measured"'


class Indirect(dvmtest.PrivilegedTest):
    def seen(self, script, command):
        result = dvm("run", "-q", "-n", script, "-c", command)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [" ".join(line.split()) for line in result.stdout.splitlines() if line.strip()]

    def check(self, name, module):
        script = (f"pid$target:{module}:strlen:entry /{MEASURED}/ {{ @[probefunc] = count(); self->in = 1; }}"
                  f"pid$target:{module}:strlen:return /self->in/ {{ @r[arg1] = count(); self->in = 0; }}")
        self.assertEqual(self.seen(script, program(name) + " 7"), ["strlen 7", "14 7"])

    def test_of_a_library(self):
        self.check("strings", "libc")

    def test_of_the_program(self):
        self.check("strings_static", "a.out")

    def test_of_the_program_at_any_address(self):
        self.check("strings_static_pie", "a.out")

    def test_every_instruction(self):
        """As in DTrace: each instruction of strlen(), with its time."""
        script = (f"pid$target:libc:strlen:entry /{MEASURED}/ {{ self->in = 1; }}"
                  "pid$target:libc:strlen: /self->in/ { trace(timestamp); printf(\" %s:%s\\n\", probefunc, probename); }"
                  "pid$target:libc:strlen:return { self->in = 0; }")
        rows = [line.split() for line in self.seen(script, program("strings"))]
        names = [name for _, name in sorted(rows, key=lambda row: int(row[0]))]
        self.assertEqual((names[0], names[-1]), ("strlen:entry", "strlen:return"))
        offsets = [int(name.split(":")[1], 16) for name in names[1:-1]]
        self.assertGreater(len(offsets), 3)
        self.assertEqual(offsets[0], 0)

    def test_an_instruction_of_what_is_not_chosen_yet(self):
        result = dvm("list", "pid$target:a.out:strlen:0", "-c", program("strings_static"))
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"process \d+ has not chosen yet which variant of 'strlen' it uses")


if __name__ == "__main__":
    unittest.main()
