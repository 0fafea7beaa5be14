"""The table of mutants and the program that runs them; nothing is built."""

import pathlib
import tempfile
import unittest

import mutate

TABLE = """# a comment
file a.cpp
tests vm_test
- return a < b;
+ return a <= b;
- if (a)
  b();
+ b();
= It has no effect.

file b.cpp
tests runtime_test scripts:actions
- count++;
+ 
"""


class Table(unittest.TestCase):
    def test_each_mutant_is_found_where_it_is_said_to_be(self):
        wrong = []
        for mutant in mutate.read_table(mutate.TABLE.read_text()):
            try:
                mutate.mutated((mutate.ROOT / mutant.file).read_text(), mutant)
            except (OSError, mutate.TableError) as error:
                wrong.append(str(error))
        self.assertEqual(wrong, [])

    def test_suites_exist(self):
        tests = mutate.ROOT / "tests/runtime"
        topics = {folder.name for folder in tests.iterdir() if folder.is_dir()} | {f"scenarios/{file.name}" for file in (tests / "scenarios").iterdir()}
        for mutant in mutate.read_table(mutate.TABLE.read_text()):
            for suite in mutant.suites:
                kind, _, names = suite.partition(":")
                self.assertIn(kind, [*mutate.UNIT_TESTS, *mutate.OTHER_TESTS, "scripts", "scenarios"], mutant.title())
                if kind == "scenarios":
                    names = ",".join("/".join(name.split(".")[:2]) + ".py" for name in names.split(","))
                self.assertLessEqual(set(filter(None, names.split(","))), topics, mutant.title())

    def test_no_mutant_is_there_twice(self):
        all = [(mutant.file, mutant.old, mutant.new) for mutant in mutate.read_table(mutate.TABLE.read_text())]
        self.assertEqual(len(all), len(set(all)))

    def test_what_a_table_says(self):
        first, second, third = mutate.read_table(TABLE)
        self.assertEqual((first.file, first.suites, first.old, first.new), ("a.cpp", ["vm_test"], "return a < b;", "return a <= b;"))
        self.assertEqual((second.old, second.new, second.reason), ("if (a)\n  b();", "b();", "It has no effect."))
        self.assertEqual((third.file, third.suites, third.new), ("b.cpp", ["runtime_test", "scripts:actions"], ""))

    def test_what_is_no_table(self):
        for text in ("- a\n+ b", "file a\n- a\n+ b", "file a\ntests vm_test\n+ b", "file a\ntests vm_test\n- a\n= why", "nonsense"):
            with self.assertRaises(mutate.TableError, msg=text):
                mutate.read_table(text)

    def test_a_text_must_be_there_once(self):
        mutant = mutate.Mutant(1, "a.cpp", ["vm_test"], "a++", "a--")
        self.assertEqual(mutate.mutated("{ a++; }", mutant), "{ a--; }")
        for text in ("", "a++; a++"):
            with self.assertRaises(mutate.TableError):
                mutate.mutated(text, mutant)


class FakeCopy(mutate.Copy):
    """Nothing is built; a suite passes if it finds the original text."""

    def builds(self, suite):
        return "broken" not in (self.tree / "a.cpp").read_text()

    def passes(self, suite):
        return suite != "sees" or (self.tree / "a.cpp").read_text() == "original"


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        (pathlib.Path(folder.name) / mutate.MARK).touch()
        self.file = pathlib.Path(folder.name) / "a.cpp"
        self.file.write_text("original")
        self.copy = FakeCopy(folder.name, "build")

    def judge(self, new, *suites):
        verdict = self.copy.judge(mutate.Mutant(1, "a.cpp", list(suites), "original", new))
        self.assertEqual(self.file.read_text(), "original")
        return verdict

    def test_verdicts(self):
        self.assertEqual(self.judge("changed", "blind", "sees"), "killed by sees")
        self.assertEqual(self.judge("changed", "blind"), "survived")
        self.assertEqual(self.judge("broken", "sees"), "does not build")

    def test_what_should_be(self):
        real, equivalent = mutate.Mutant(1, "a", []), mutate.Mutant(1, "a", [], reason="why")
        self.assertEqual([mutate.is_good(real, verdict) for verdict in ("killed by a", "survived", "does not build")], [True, False, False])
        self.assertEqual([mutate.is_good(equivalent, verdict) for verdict in ("killed by a", "survived", "does not build")], [False, True, False])

    def test_other_trees_are_left_alone(self):
        (self.copy.tree / mutate.MARK).unlink()
        for tree in (mutate.ROOT, mutate.HERE, self.copy.tree):
            with self.assertRaises(SystemExit):
                mutate.Copy(tree, "build")


if __name__ == "__main__":
    unittest.main()
