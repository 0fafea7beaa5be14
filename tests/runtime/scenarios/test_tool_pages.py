"""The pages and options of the ready scripts of tools/."""

import re
import unittest

from dvmtest import ROOT, dvm

NAMES = sorted(path.stem for path in (ROOT / "tools").glob("*.d"))


class Pages(unittest.TestCase):
    def test_the_sixteen_are_listed_with_a_line_each(self):
        result = dvm("tool")
        self.assertEqual(result.returncode, 0)
        rows = re.findall(r"^(\w+) +(\S.{10,})$", result.stdout, re.M)
        self.assertEqual([name for name, _ in rows], NAMES)
        self.assertEqual(len(NAMES), 16)

    def test_each_has_a_page_with_its_options(self):
        for name in NAMES:
            text = (ROOT / f"tools/{name}.d").read_text()
            page = dvm("tool", name, "--help")
            self.assertEqual(page.returncode, 0, page.stderr)
            self.assertTrue(page.stdout.startswith(f"{name}: "), page.stdout)
            self.assertIn(f"Usage: dvm tool {name} ", page.stdout)
            for option in re.findall(r"^ \*   (\S+) .*\$\d", text, re.M):
                self.assertRegex(page.stdout, rf"(?m)^  {re.escape(option)} ")
            self.assertNotRegex(page.stdout, r"\$\d")

    def test_every_macro_argument_is_declared_once(self):
        for name in NAMES:
            text = (ROOT / f"tools/{name}.d").read_text()
            page, body = text.split(" */\n", 1)
            declared = re.findall(r"^ \*   \S.*?\$(\d)", page, re.M)
            self.assertEqual(declared, [str(n + 1) for n in range(len(declared))], name)
            self.assertEqual(sorted(set(re.findall(r"\$(\d)", body))), declared, name)

    def test_wrong_use_says_what_is_wrong(self):
        for words, message in (
                (["nosuch"], "there is no tool 'nosuch'; 'dvm tool' lists them"),
                (["opensnop"], "there is no tool 'opensnop'; 'dvm tool' lists them\n    hint: did you mean 'dvm tool opensnoop'?"),
                (["opensnoop", "-q"], "tool opensnoop: there is no option '-q'\n    for more, see dvm tool opensnoop --help"),
                (["opensnoop", "-d"], "tool opensnoop: -d needs SECONDS"),
                (["opensnoop", "-d", "long"], "tool opensnoop: -d takes a number from 0 to 1000000000000, not 'long'"),
                (["profile", "-r", "0"], "tool profile: -r takes a number from 1 to 5000, not '0'"),
                (["argdist", "-p", "1", "f", "-a", "arg99"], "tool argdist: -a takes arg0 to arg9, not 'arg99'"),
                (["opensnoop", "-p", "0"], "tool opensnoop: there is no process 0"),
                (["funccount", "-p", "1", ""], "tool funccount: FUNCTION is a name or a pattern, not ''"),
                (["funccount", "-p", "1", "a\"b"], "tool funccount: FUNCTION is a name or a pattern, not 'a\"b'"),
                (["funccount", "-p", "1", "f", "a\nb"], "tool funccount: MODULE is a name or a pattern, not 'a\\nb'"),
                (["opensnoop", "-p", "99999999"], "tool opensnoop: there is no process 99999999"),
                (["memleak", "-t", "-5"], "tool memleak: -t takes a number from 1 to 1000000, not '-5'"),
                (["opensnoop", "x"], "tool opensnoop: 'x' is one operand too many: dvm tool opensnoop [OPTIONS]"),
                (["funccount", "-p", "1"], "tool funccount: FUNCTION is missing: dvm tool funccount (-p PID | -c 'CMD ARGS') [OPTIONS] FUNCTION [MODULE]"),
                (["funccount", "x"], "tool funccount: name a process by -p PID, or start one by -c 'CMD ARGS'"),
                (["funccount", "-p", "x", "f"], "tool funccount: invalid pid: x"),
                (["funccount", "-p", "12abc", "f"], "tool funccount: invalid pid: 12abc")):
            result = dvm("tool", *words)
            self.assertEqual((result.returncode, result.stdout, result.stderr), (2, "", f"dvm: {message}\n"))

    def test_every_option_refuses_other_values_in_one_line(self):
        for name in NAMES:
            for flag, value in re.findall(r"(?m)^  (-\w) ([A-Z]+) ", dvm("tool", name, "--help").stdout):
                if value == "NAME":
                    continue
                for bad in ("", "x", "-9", "1.5", "0x", "arg10", "1;exit(0)", "99999999999999999999"):
                    result = dvm("tool", name, flag, bad)
                    self.assertEqual((result.returncode, result.stdout), (2, ""), (name, flag, bad))
                    self.assertRegex(result.stderr, rf"^dvm: tool {name}: {flag} takes [^\n]+, not '{re.escape(bad)}'\n$")

    def test_no_option_is_listed_twice(self):
        for name in NAMES:
            options = re.findall(r"(?m)(?:^  |, )(--?\w+)(?= |:|,)", dvm("tool", name, "--help").stdout.partition("\n\n")[2])
            self.assertEqual(len(options), len(set(options)), name)

    def test_columns_are_named(self):
        for name in NAMES:
            columns = re.findall(r"(?m)^Columns( of [\w ]+)? with --json: (.*)", dvm("tool", name, "--help").stdout)
            self.assertTrue(columns, name)
            self.assertEqual(len({of for of, _ in columns}), len(columns), columns)
            for _, names in columns:
                self.assertRegex(names, r"^\w+(, \w+)*$", name)


if __name__ == "__main__":
    unittest.main()
