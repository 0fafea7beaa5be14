"""Strings of thread-local variables in the traced thread: the same as in dvm."""

import unittest

import dvmtest
from dvmtest import program
from scenarios.test_agent import AgentTest

IN_THREAD = "(agent, in the traced thread)"
# follow(text, kind) gets all kinds of strings, and 10,000 addresses without one.
ENTRY = "pid$target:a.out:follow:entry"
ERRORS = "ERROR { @e[arg2, arg3, arg4] = count(); }"
# A clause on the same probe, so that dvm runs all.
IN_DVM = f" {ENTRY} /ppid < 0/ {{ trace(0); }}"


class Texts(AgentTest):
    def run_one(self, script, *options):
        return dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-x", "ringsize=64m", "-x", "aggsortkey", *options, "-n", script, "-c", program("pointers"))

    SCRIPTS = [
        "ENTRY { self->text = copyinstr(arg0); } ENTRY /self->text != NULL/ { @[self->text, arg1] = count(); self->text = 0; } ENTRY { @left[self->text != NULL] = count(); }",
        "ENTRY { self->kind = arg1; self->text = copyinstr(arg0, 7); } ENTRY { @[self->kind, self->text, probefunc] = sum(arg1); self->kind = 0; }",
        "ENTRY /arg1 == 4/ { self->text = copyinstr(arg0); } ENTRY /arg1 == 5/ { self->text = \"constant\"; } ENTRY /arg1 == 6/ { self->text = NULL; } "
        "ENTRY /arg1 == 7/ { self->text = probefunc; } ENTRY /arg1 == 8/ { self->text = execname; } ENTRY { @[self->text] = count(); }",
        "ENTRY { self->n = arg1; self->a = copyinstr(arg0); } ENTRY { self->b = self->a; } ENTRY { self->a = copyinstr(arg0 + 2); } ENTRY { @[self->a, self->b] = max(self->n); self->n = 0; }",
        "self string a; self string b; ENTRY { self->b = self->a; } ENTRY { @[self->b != NULL, arg1] = count(); } "
        "ENTRY /arg1 == 4/ { self->a = copyinstr(arg0); } ENTRY /arg1 == 6/ { self->a = NULL; }",
        "self string s; ENTRY { self->s = \"a long constant, longer than a small strsize\"; } ENTRY { @[self->s] = count(); self->s = \"short\"; } ENTRY { @again[self->s] = count(); }",
    ]

    def test_results_are_those_of_dvm(self):
        for options in [(), ("-x", "strsize=9"), ("-x", "strsize=16")]:
            for body in self.SCRIPTS:
                script = body.replace("ENTRY", ENTRY) + ERRORS
                with self.subTest(script, options=options):
                    here, there = self.run_one(script, *options), self.run_one(script + IN_DVM, *options)
                    self.assertIn(IN_THREAD, here.stderr)
                    self.assertNotIn("not in the traced thread", here.stderr)
                    self.assertNotIn(IN_THREAD, there.stderr)
                    self.assertEqual(sorted(here.stdout.splitlines()), sorted(there.stdout.splitlines()))
                    self.assertIn("0 faults, same handler\n", here.stdout)

    def test_an_address_may_depend_on_the_time(self):
        """dvm would read the string late."""
        outputs = []
        for address in ("arg0", "arg0 + (timestamp < 1000)"):
            result = self.run_one(f"{ENTRY} {{ self->text = copyinstr({address}); }} {ENTRY} {{ @[self->text] = count(); }}")
            self.assertIn(IN_THREAD, result.stderr)
            outputs.append(result.stdout)
        self.assertEqual(*outputs)

    def test_what_dvm_must_see_runs_there(self):
        for body, options in [("ENTRY { self->text = strjoin(probefunc, execname); } ENTRY { @[self->text] = count(); }", ()),
                              ("ENTRY { self->text = copyinstr(arg0); } ENTRY { printf(\"%s\\n\", self->text); }", ()),
                              ("ENTRY { self->text = copyinstr(arg0); } ENTRY { @[strlen(self->text)] = count(); }", ()),
                              ("ENTRY { self->a = copyinstr(arg0); self->b = copyinstr(arg0 + 1); } ENTRY { @[self->a, self->b] = count(); }", ()),
                              ("ENTRY { self->text = copyinstr(arg0); } ENTRY { @[self->text] = count(); }", ("-x", "strsize=1k"))]:
            script = body.replace("ENTRY", ENTRY) + ERRORS
            with self.subTest(script):
                here, there = self.run_one(script, *options), self.run_one(script + IN_DVM, *options)
                self.assertNotIn(IN_THREAD, here.stderr)
                self.assertEqual(sorted(here.stdout.splitlines()), sorted(there.stdout.splitlines()))


if __name__ == "__main__":
    unittest.main()
