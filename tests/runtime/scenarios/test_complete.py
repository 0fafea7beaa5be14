"""Completion: what `dvm complete` prints for a command line, and what the functions of shells make of it."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import dvmtest
from dvmtest import DVM, ROOT, dvm, program

SCRIPTS = ROOT / "cmd" / "completion"


def candidates(line):
    result = dvm("complete", line)
    return [one.split("\t")[0] for one in result.stdout.splitlines()]


class Candidates(unittest.TestCase):
    def test_commands(self):
        self.assertEqual(candidates("dvm re"), ["record", "replay"])
        self.assertEqual(candidates("dvm cost "), ["calibrate", "predict", "validate"])
        self.assertNotIn("complete", candidates("dvm "))

    def test_options_with_their_text(self):
        self.assertIn("-q\tPrint only the output of the script\n", dvm("complete", "dvm run -").stdout)
        self.assertEqual(candidates("dvm cost predict script.d --str"), ["--strings"])

    def test_every_option_of_help_is_a_candidate(self):
        for command in ("run", "list", "simulate", "cost calibrate"):
            options = candidates(f"dvm {command} -")
            for line in dvm(*command.split(), "--help").stdout.splitlines():
                if line.startswith("  -"):
                    self.assertIn(line.split()[0].split(",")[0].split("[")[0], options)

    def test_settings_and_their_values(self):
        self.assertEqual(candidates("dvm run -x bufp"), ["bufpolicy="])
        self.assertEqual(candidates("dvm run -x bufpolicy="), ["bufpolicy=switch", "bufpolicy=fill", "bufpolicy=ring"])
        names = candidates("dvm run -x ")
        self.assertLessEqual({"quiet", "nolibs", "strsize="}, set(names))
        refused = re.findall(r"(?m)^(\w+) .*\(refused: ", dvm("compile", "--options").stdout)
        self.assertIn("core", refused)
        self.assertEqual({name.rstrip("=") for name in names} & set(refused), set())

    def test_words_that_options_take(self):
        self.assertEqual(candidates("dvm run --account="), ["--account=table", "--account=json"])
        self.assertEqual(candidates("dvm run --account=j"), ["--account=json"])
        self.assertEqual(candidates("dvm run --flame="), [])

    def test_tools(self):
        tools = candidates("dvm tool ")
        self.assertEqual(tools, [line.split()[0] for line in dvm("tool").stdout.splitlines()])
        self.assertIn("execsnoop", candidates("dvm tool exec"))

    def test_processes(self):
        self.assertIn(str(os.getpid()), candidates("dvm run -p "))

    def test_files_are_left_to_the_shell(self):
        for line in ("dvm run ", "dvm run -s ", "dvm run -o ", "dvm cost predict --profile "):
            self.assertEqual(candidates(line), [], line)

    def test_probes_of_the_kernel(self):
        self.assertIn("syscall:", candidates("dvm list sys"))
        self.assertEqual(candidates("dvm list 'syscall::openat:"), ["syscall::openat:entry", "syscall::openat:return"])
        self.assertIn("BEGIN", candidates("dvm run -n BE"))
        self.assertEqual(candidates("dvm run -P sysc"), ["syscall"])

    def test_probes_of_a_program(self):
        looper = program("looper")
        start = f"dvm run -c '{looper} 1' "
        self.assertIn("pid$target:", candidates(start + "-n 'pid"))
        self.assertIn("pid$target:libc.so.6:", candidates(start + "-n 'pid$target:libc"))
        self.assertEqual(candidates(start + "-n 'pid$target:looper:fun"), ["pid$target:looper:func:"])
        self.assertEqual(candidates(start + "-n 'pid$target:a.out:func:e"), ["pid$target:a.out:func:entry"])
        self.assertEqual(candidates(start + "-f 'pid$target:a.out:fun"), ["pid$target:a.out:func"])
        self.assertIn("pid$target:a.out", candidates(start + "-m 'pid$target:a"))

    def test_bad_lines_have_no_candidates(self):
        for line in ("", "dvm run -x nosuch", "dvm list ':::::", "dvm run -p 999999999 -n pid$target:", "dvm run -n '\\"):
            result = dvm("complete", line)
            self.assertEqual((result.returncode, result.stderr), (0, ""), line)


class Shells(unittest.TestCase):
    def bash(self, line, *words):
        """COMPREPLY for the words as bash splits them; the last is being completed."""
        script = (f'source {SCRIPTS}/dvm.bash; COMP_LINE=$1; COMP_POINT=${{#1}}; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1));'
                  f'_dvm {DVM}; printf "%s\\n" "${{COMPREPLY[@]}}"')
        return subprocess.run(["bash", "-c", script, "bash", line, *words], capture_output=True, text=True, check=True).stdout.split()

    def test_bash(self):
        self.assertEqual(self.bash("dvm re", "dvm", "re"), ["record", "replay"])
        self.assertEqual(self.bash("dvm run -x bufpolicy=f", "dvm", "run", "-x", "bufpolicy", "=", "f"), ["fill"])
        self.assertEqual(self.bash("dvm list syscall::openat:e", "dvm", "list", "syscall", "::", "openat", ":", "e"), ["entry"])
        self.assertEqual(self.bash("dvm list 'syscall::openat:e", "dvm", "list", "'syscall::openat:e"), ["syscall::openat:entry"])

    def test_bash_registers_the_function(self):
        shown = subprocess.run(["bash", "-c", f"source {SCRIPTS}/dvm.bash; complete -p dvm"], capture_output=True, text=True, check=True)
        self.assertEqual(shown.stdout, "complete -o default -F _dvm dvm\n")

    def with_dvm_on_the_path(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        (pathlib.Path(folder.name) / "dvm").symlink_to(DVM)
        return dict(dvmtest.ENV, PATH=f"{folder.name}:{os.environ['PATH']}")

    def test_zsh_can_read_its_script(self):
        if shutil.which("zsh") is None:
            self.skipTest("there is no zsh")
        subprocess.run(["zsh", "-n", SCRIPTS / "_dvm"], check=True)

    def test_fish(self):
        if shutil.which("fish") is None:
            self.skipTest("there is no fish")
        made = subprocess.run(["fish", "-c", f"source {SCRIPTS}/dvm.fish; complete -C 'dvm re'"], capture_output=True, text=True,
                              check=True, env=self.with_dvm_on_the_path())
        self.assertIn("record", made.stdout)


if __name__ == "__main__":
    unittest.main()
