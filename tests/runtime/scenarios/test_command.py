#!/usr/bin/env python3
"""The flags that dvm run has from dtrace(1)."""

import os
import re
import sys
import tempfile
import unittest

import dvmtest


def run(*args):
    return dvmtest.dvm("run", *args)


COMMANDS = "commands: run, record, replay, compile, exec, list, cost, simulate, header, detach, doctor, tool, merge, flame, page, lsp"


class Settings(unittest.TestCase):
    SIZE = 'BEGIN { s = "abcdef"; printf("%s", s); exit(0); }'

    def printed(self, *args, **variables):
        result = dvmtest.dvm("run", "-q", *args, "-n", self.SIZE, env=dict(dvmtest.ENV, **variables))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout.strip()

    def test_options_from_the_environment_are_the_weakest(self):
        self.assertEqual(self.printed(DTRACE_OPT_STRSIZE="4"), self.printed("-xstrsize=4"))
        self.assertEqual(self.printed("-xstrsize=3", DTRACE_OPT_STRSIZE="4"), self.printed("-xstrsize=3"))
        self.assertEqual(self.printed(DTRACE_OPT_STRSZE="4", DTRACE_OPT_STRSIZE="x"), "abcdef", "what is wrong is ignored")

    def test_the_last_buffer_size_counts(self):
        self.assertEqual(self.printed("-b", "1m", "-b", "2m"), "abcdef")


class ByCpu(unittest.TestCase):
    """The option aggpercpu. Firings are on CPU 0 here."""

    def parts(self, text, *args):
        out = run("-q", "-x", "aggpercpu", "-x", "cpu=0", *args, "-n", text).stdout
        self.assertEqual(sorted(set(re.findall(r"^    \[CPU (\d+)\]", out, re.M)), key=int), [str(n) for n in range(os.cpu_count())])
        return out

    def test_the_values_of_each_cpu_are_below_the_total(self):
        out = self.parts('BEGIN { @["a"] = sum(2); @["a"] = sum(3); exit(0); }')
        self.assertRegex(out, r"(?m)^  a {50} +5\n    \[CPU 0\] {16}5$")
        self.assertEqual(len(re.findall(r"\] {16}0$", out, re.M)), os.cpu_count() - 1)

    def test_distributions_have_one_for_each_cpu(self):
        self.assertEqual(self.parts("BEGIN { @ = quantize(5); exit(0); }").count("Distribution"), 1 + os.cpu_count())

    def test_clear_and_trunc_take_the_parts_too(self):
        out = self.parts("BEGIN { @c[1] = sum(7); @t[1] = sum(7); @t[2] = sum(9); } BEGIN { clear(@c); trunc(@t, 1); exit(0); } "
                         "END { @t[1] = sum(1); }")
        self.assertEqual(re.findall(r"^ +(\d+) +(\d+)\n    \[CPU 0\] +(\d+)$", out, re.M),
                         [("1", "0", "0"), ("1", "1", "1"), ("2", "9", "9")])


class Usage(unittest.TestCase):
    def misused(self, *words):
        result = dvmtest.dvm(*words)
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        return result.stderr

    def test_a_missing_command_is_asked_for(self):
        self.assertIn(f"dvm: a command must follow 'dvm'\n    {COMMANDS}\n", self.misused())
        self.assertIn("a command must follow 'dvm cost'\n    commands: calibrate, predict, validate\n", self.misused("cost"))

    def test_a_misspelt_command_gets_the_near_one(self):
        for words, problem, hint in ((["runn"], "'runn' is not a command of dvm", "did you mean 'dvm run'?"),
                                     (["cost", "pedict"], "'pedict' is not a command of dvm cost", "did you mean 'dvm cost predict'?")):
            errors = self.misused(*words)
            self.assertIn(f"dvm: {problem}\n    hint: {hint}\n    commands: ", errors)

    def test_what_run_takes_needs_run(self):
        errors = self.misused("-n", "BEGIN{}")
        self.assertIn("a command must precede '-n'\n    hint: did you mean 'dvm run -n'?\n", errors)
        self.assertIn("hint: did you mean 'dvm run /etc/passwd'?", self.misused("/etc/passwd"))

    def test_an_option_that_is_wrong_names_its_command(self):
        for words, problem, command in ((["merge"], "FILE is missing", "dvm merge"),
                                        (["cost", "validate", "--frob"], "unknown option --frob", "dvm cost validate"),
                                        (["run", "--jso"], "unknown option --jso\n    hint: did you mean '--json'?", "dvm run"),
                                        (["run", "--jsno"], "unknown option --jsno\n    hint: did you mean '--json'?", "dvm run"),
                                        (["run", "-n"], "option -n needs a value: SCRIPT", "dvm run"),
                                        (["run", "-3"], "illegal option -- 3", "dvm run"),
                                        (["run", "--json=3"], "option --json: it takes no value", "dvm run"),
                                        (["run", "-C=3"], "option -C: it takes no value", "dvm run"),
                                        (["run", "-Cjson"], "unknown option -j in -Cjson", "dvm run"),
                                        (["run", "-Cq=3"], "option -C or -q: it takes no value", "dvm run"),
                                        (["run", "-o", ""], "option -o: the value is empty", "dvm run"),
                                        (["run", "--account=x"], "option --account: 'x' is none of table,json", "dvm run"),
                                        (["run", "--flame", "a", "--flame", "b"], "option --flame may be given only once", "dvm run"),
                                        (["run", "--cpus", "2"], "option --cpus needs option --predict too", "dvm run"),
                                        (["run", "--json", "--folded"], "options --json and --folded exclude each other", "dvm run"),
                                        (["detach"], "option -p is missing", "dvm detach"),
                                        (["detach", "-p", "0"], "option -p: '0' is not a number above 0", "dvm detach"),
                                        (["doctor", "all"], "unexpected operand 'all'", "dvm doctor"),
                                        (["simulate", "--cpus", "x"], "option --cpus: 'x' is not a number from 1 to 65536", "dvm simulate"),
                                        (["simulate", "--slowdown"], "option --slowdown needs a value: N", "dvm simulate")):
            result = dvmtest.dvm(*words)
            self.assertEqual((result.returncode, result.stderr), (2, f"dvm: {problem}\n    for more, see {command} --help\n"))

    def test_one_empty_line_separates_the_parts_of_a_help_text(self):
        for words in (["run"], ["cost", "calibrate"], ["detach"]):
            text = dvmtest.dvm(*words, "--help").stdout
            self.assertNotIn("\n\n\n", text)
            self.assertIn("\n\nExamples:\n", text)

    def test_every_option_of_run_has_a_heading(self):
        groups = dict(re.findall(r"(?ms)^(\S[^\n]*):\n(.*?)\n(?:\n|\Z)", dvmtest.dvm("run", "--help").stdout))
        for option, group in (("-p", "Processes"), ("-n", "Script"), ("-x", "Tracing"), ("-C", "Preprocessor"), ("--json", "Output"),
                              ("-l", "Instead of tracing"), ("--account", "Cost"), ("--rate", "With --predict")):
            self.assertRegex(groups[group], rf"(?m)^  {option}\b")
        self.assertNotIn("Options", groups)

    def test_help(self):
        for words, also in (([], ["--help"]), (["run"], ["run", "--help"]), (["cost", "predict"], ["cost", "predict", "--help"])):
            result = dvmtest.dvm("help", *words)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertEqual(result.stdout, dvmtest.dvm(*also).stdout)
        self.assertIn("'runn' is not a command", self.misused("help", "runn"))


class Command(unittest.TestCase):
    def test_l_lists_the_probes_of_each_clause(self):
        result = run("-l", "-n", "BEGIN, END { trace(1); }", "-n", "BEGIN")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = [line.split() for line in result.stdout.splitlines()]
        self.assertEqual(rows[0], ["ID", "PROVIDER", "MODULE", "FUNCTION", "NAME"])
        self.assertEqual([row[1:] for row in rows[1:]], [["dtrace", "BEGIN"], ["dtrace", "END"], ["dtrace", "BEGIN"]])

    def test_specifiers_end_at_their_field(self):
        result = run("-l", "-P", "dtrace")
        self.assertEqual([line.split()[-1] for line in result.stdout.splitlines()[1:]], ["BEGIN", "END", "ERROR"])
        result = run("-q", "-P", 'dtrace/probename == "BEGIN"/{ trace(probename); exit(0); }')
        self.assertEqual(result.stdout.strip(), "BEGIN", result.stderr)
        for flag, value in (("-m", "nowhere"), ("-f", "nowhere"), ("-P", "nowhere")):
            result = run(flag, value)
            self.assertEqual(result.returncode, 1)
            self.assertIn("nowhere", result.stderr)

    def test_specifiers_are_quoted_as_given(self):
        for flag, value, why in (("-f", "mossy_fn", "probe description ::mossy_fn: does not match any probes"),
                                 ("-f", "::mossy:", "probe description :mossy:: does not match any probes"),
                                 ("-m", ":mossy::", 'invalid probe description ":mossy::": Overspecified probe description'),
                                 ("-P", "a:b:c:d", 'invalid probe description "a:b:c:d": Overspecified probe description'),
                                 ("-P", "dtrace, mossy", "probe description mossy::: does not match any probes"),
                                 ("-f", "read, 7", "probe identifier 7 not permitted when specifying functions"),
                                 ("-m", "dtrace:,a:b:c", 'invalid probe description "a:b:c": Overspecified probe description'),
                                 ("-f", "7.5", "probe identifier 7 not permitted when specifying functions"),
                                 ("-P", "7{ exit(0); }", "probe identifier 7 not permitted when specifying providers")):
            with self.subTest(value):
                result = run(flag, value)
                self.assertEqual(result.returncode, 1)
                self.assertIn(f"dvm: invalid probe specifier {value}: {why}", result.stderr)

    def test_specifiers_choose_functions_and_modules(self):
        reason = dvmtest.missing_privilege()
        if reason:
            dvmtest.skip_or_fail(self, reason)
        command = dvmtest.program("looper") + " 1"
        result = run("-l", "-f", "pid$target:looper:main", "-c", command)
        self.assertEqual({line.split()[-2] for line in result.stdout.splitlines()[1:]}, {"main"}, result.stderr)
        result = run("-q", "-m", 'pid$target:looper/probefunc == "main" && probename == "entry"/{ trace(probefunc); exit(0); }',
                     "-c", command)
        # The program writes a line of its own to the same output, sooner or later.
        self.assertIn("main", result.stdout.splitlines(), result.stderr)

    def test_b_is_the_size_of_the_buffer(self):
        self.assertIn("Enabling exceeds size of buffer", run("-b", "8", "-n", 'BEGIN { trace("x"); exit(0); }').stderr)
        self.assertIn("bufsize", run("-b", "eight", "-n", "BEGIN { exit(0); }").stderr)
        for options in ["-b", "8", "-x", "strsize=100"], ["-x", "bufsize=64k", "-b", "8"]:
            self.assertIn("Enabling exceeds size of buffer", run(*options, "-n", 'BEGIN { trace("x"); exit(0); }').stderr)
        self.assertEqual(run("-q", "-b", "8", "-x", "bufsize=64k", "-n", 'BEGIN { trace("x"); exit(0); }').returncode, 0)
        self.assertEqual(run("-q", "-b", "64k", "-n", "BEGIN { exit(0); }").returncode, 0)

    def test_options_name_what_flags_do(self):
        text = "BEGIN { trace(N); exit(0); }"
        result = run("-q", "-x", "cpp", "-x", "define=N=M", "-x", "define=M=7", "-n", text)
        self.assertEqual((result.stdout, result.returncode), ("7\n", 0), result.stderr)
        result = run("-q", "-x", "cpp", "-x", "define=N=M", "-x", "undef=N", "-n", text)
        self.assertIn("failed to resolve N", result.stderr)
        self.assertEqual(run("-q", "-x", "empty", "-n", "", "-n", "BEGIN { exit(0); }").returncode, 0)
        self.assertIn("empty D program", run("-q", "-n", "", "-n", "BEGIN { exit(0); }").stderr)

    def test_B_has_no_effect_and_says_so(self):
        result = run("-q", "-B", "-n", "BEGIN { exit(0); }")
        self.assertEqual(result.returncode, 0)
        self.assertIn("option -B has no effect", result.stderr)

    def test_unknown_flags_are_named(self):
        result = run("-j", "-n", "BEGIN")
        self.assertEqual(result.returncode, 2)
        self.assertIn("-j", result.stderr)

    def test_S_lists_and_e_ends(self):
        for option in (["-S"], ["-x", "verbose"]):
            result = run(*option, "-e", "-n", "BEGIN { trace(1); }")
            self.assertEqual(result.returncode, 0)
            self.assertIn("OFF OPCODE      INSTRUCTION", result.stderr)
            self.assertEqual(result.stdout, "")

    def test_o_appends(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "out")
            for word in ("one", "two"):
                self.assertEqual(run("-q", "-o", path, "-n", f'BEGIN {{ printf("{word} "); exit(0); }}').stdout, "")
            with open(path, encoding="utf-8") as file:
                self.assertEqual(file.read().split(), ["one", "two"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
