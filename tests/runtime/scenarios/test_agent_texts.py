"""Strings of thread-local variables in the traced thread: the same as in dvm."""

import re
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
                              ("ENTRY { self->text = copyinstr(arg0); } ENTRY { printf(\"%s\\n\", strjoin(self->text, \"|\")); self->text = 0; }", ()),
                              ("ENTRY { self->text = copyinstr(arg0); } ENTRY { @[strlen(self->text)] = count(); }", ()),
                              ("ENTRY { self->n++; printf(\"%d\\n\", 100 / (arg1 - 6)); self->n++; } ENTRY { @[self->n] = count(); }", ()),
                              ("ENTRY { self->a = copyinstr(arg0); self->b = copyinstr(arg0 + 1); } ENTRY { @[self->a, self->b] = count(); }", ()),
                              ("ENTRY { self->text = copyinstr(arg0); } ENTRY { @[self->text] = count(); }", ("-x", "strsize=1k"))]:
            script = body.replace("ENTRY", ENTRY) + ERRORS
            with self.subTest(script):
                here, there = self.run_one(script, *options), self.run_one(script + IN_DVM, *options)
                self.assertIn("; not in the traced thread: ", here.stderr)
                self.assertEqual(sorted(here.stdout.splitlines()), sorted(there.stdout.splitlines()))


class TextsInRecords(AgentTest):
    """Clauses that print such strings, or strings at addresses that the thread has kept, have records of their own."""

    SCRIPTS = [
        # One that is kept from the entry.
        'ENTRY { self->text = copyinstr(arg0); self->kind = arg1; } RETURN /self->text != NULL/ { printf("%d %s|\\n", self->kind, self->text); self->text = 0; } '
        "RETURN { @left[self->text != NULL] = count(); }",
        'self string a; self string b; ENTRY { self->a = copyinstr(arg0, 7); } ENTRY { self->b = self->a; self->kind = arg1; } RETURN { printf("%d %s %s|\\n", self->kind, self->a, self->b); } '
        "RETURN /self->kind & 1/ { self->a = NULL; }",
        'ENTRY { self->text = probefunc; } ENTRY /arg1 & 1/ { self->text = "constant"; } ENTRY /arg1 == 8/ { self->text = execname; } RETURN { trace(self->text); @[self->text] = count(); self->text = 0; }',
        # An address that is kept from the entry.
        'ENTRY { self->at = arg0; self->kind = arg1; } RETURN /self->at/ { printf("%d %s|\\n", self->kind, copyinstr(self->at)); self->at = 0; self->n++; } RETURN { @[self->n, self->at != 0] = count(); }',
        'ENTRY { self->at = arg0; } RETURN { this->p = self->at; printf("%s|\\n", copyinstr(this->p + 1)); self->at = 0; } RETURN { @[self->at != 0] = count(); }',
        'ENTRY { self->at = arg0; } RETURN { this->s = copyinstr(self->at, 9); printf("%s|\\n", this->s); self->at = 0; } RETURN { @[self->at != 0] = count(); }',
        # One that is assigned where it is printed; what is behind it is not done if it cannot be read.
        'ENTRY { self->text = copyinstr(arg0); printf("%d %s|\\n", arg1, self->text); self->n++; } RETURN { @[self->text, self->n] = count(); }',
        'ENTRY { printf("%d\\n", 100 / (arg1 - 6)); self->a = arg1; } RETURN { @[self->a] = count(); self->a = 0; }',
        'ENTRY { printf("%s|\\n", copyinstr(arg0)); printf("%d\\n", 100 / (arg1 & 3)); self->n++; } RETURN { @[self->n] = count(); }',
        # A fault behind strings that it needs.
        'ENTRY { self->a = probefunc; } ENTRY /arg1 > 2/ { self->a = copyinstr(arg0, 5); } ENTRY { @[self->a, copyinstr(arg0)] = count(); self->a = 0; } RETURN { @left[self->a != NULL] = count(); }',
    ]

    def run_one(self, backend, script, *options):
        return dvmtest.dvm("run", "-qv", "-x", f"backend={backend}", "-x", "ringsize=64m", "-x", "aggsortkey", *options, "-n", script, "-c", program("pointers") + " 200")

    def test_results_are_those_of_dvm_and_of_uprobes(self):
        others = [("agent", IN_DVM)] + [("uprobe", "")] * (not dvmtest.missing_privilege())
        for options, scripts in [((), self.SCRIPTS), (("-x", "strsize=9"), self.SCRIPTS[:3])]:
            for body in scripts:
                script = body.replace("ENTRY", ENTRY).replace("RETURN", ENTRY.replace("entry", "return")) + ERRORS
                with self.subTest(script, options=options):
                    here = self.run_one("agent", script, *options)
                    self.assertIn("(agent, in the traced thread", here.stderr)
                    self.assertNotIn("(agent)", here.stderr)
                    for backend, more in others:
                        there = self.run_one(backend, script + more, *options)
                        self.assertNotIn("(agent, in the traced thread", there.stderr)
                        self.assertEqual(self.shown(here), self.shown(there))

    def test_an_address_that_changes_a_variable_changes_it_once(self):
        for value in ('this->s = copyinstr(this->p++); printf("%s|%d\\n", this->s, this->p == arg0 + 1)', 'printf("%s|", copyinstr(this->p++)); printf("%d\\n", this->p == arg0 + 1)'):
            script = f"{ENTRY} /arg1 == 4/ {{ this->p = arg0; }} {ENTRY} /arg1 == 4/ {{ {value}; }}"
            with self.subTest(script):
                here, there = self.run_one("agent", script), self.run_one("agent", script + IN_DVM)
                self.assertRegex(here.stdout, r"\|1\n")
                self.assertEqual(self.shown(here), self.shown(there))

    @staticmethod
    def shown(result):
        """Without what the program prints, at any time."""
        return re.sub(r"0 faults, same handler\n", "", result.stdout)


if __name__ == "__main__":
    unittest.main()
