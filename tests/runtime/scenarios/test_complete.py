"""Completion: what `dvm complete` prints for a command line, and what the functions of shells make of it."""

import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import tempfile
import time
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
        self.assertEqual(candidates("dvm run -q -w --account -x bufp"), ["bufpolicy="])  # behind options without a value
        self.assertEqual(candidates("dvm run -x bufpolicy="), ["bufpolicy=switch", "bufpolicy=fill", "bufpolicy=ring"])
        names = candidates("dvm run -x ")
        self.assertLessEqual({"quiet", "nolibs", "strsize="}, set(names))
        refused = re.findall(r"(?m)^(\w+) .*\(refused: ", dvm("compile", "--options").stdout)
        self.assertIn("core", refused)
        self.assertEqual({name.rstrip("=") for name in names} & set(refused), set())

    def test_every_closed_set_of_values(self):
        values = {"demangle": ["off", "on"], "temporal": ["off", "on"], "quiet": ["off", "on"], "engine": ["auto", "interp", "llvm"],
                  "version": None, "return": ["safe", "uretprobe", "exits"], "quiet=o": ["off", "on"], "nolibs": []}
        for name, expected in values.items():
            found = candidates(f"dvm run -x {name}{'' if '=' in name else '='}")
            self.assertTrue(expected is None or found == [f"{name.split('=')[0]}={word}" for word in expected], (name, found))
            for one in found:
                self.assertEqual(dvm("run", "-x", one, "-n", "BEGIN { exit(0); }").returncode, 0, one)
        self.assertIn("version=2.0", candidates("dvm run -x version="))
        self.assertIn("amin=Stable/", candidates("dvm run -x amin=St"))
        self.assertEqual(candidates("dvm run -x amin=Stable/Stable/C"), ["amin=Stable/Stable/CPU", "amin=Stable/Stable/Common"])
        # Those that are on need the value.
        self.assertEqual(candidates("dvm run -x demang"), ["demangle="])
        # The table is the truth: each kind with words or on and off has candidates.
        for name, kind in re.findall(r"(?m)^DVM_OPTION\((\w+?)_?, +(\w+), .* yes, ", (ROOT / "vm/dif/options.def").read_text()):
            closed = kind not in ("bare", "number", "size", "rate", "text")
            self.assertEqual(bool(candidates(f"dvm run -x {name}=")), closed, name)

    def test_timers(self):
        self.assertIn("tick-10", candidates("dvm list tick-"))
        self.assertIn("profile-997", candidates("dvm run -n 'profile-"))
        self.assertIn("profile:::profile-97", candidates("dvm run -n 'profile:::prof"))
        self.assertEqual(candidates("dvm run -n tick-5m"), ["tick-5m", "tick-5min", "tick-5ms", "tick-5msec"])
        self.assertEqual(candidates("dvm run -n tick-1n"), [])  # too short
        self.assertEqual(candidates("dvm run -n syscall:::tick-"), [])

    def test_the_name_dtrace(self):
        options = candidates("dtrace -")
        self.assertLessEqual({"-n", "-s", "-q", "-G", "-Z", "-x"}, set(options))
        self.assertEqual({"-A", "-a", "--json"} & set(options), set())
        self.assertEqual(candidates("dtrace -x bufp"), ["bufpolicy="])
        self.assertEqual(candidates("/usr/sbin/dtrace -qwx bufp"), ["bufpolicy="])
        self.assertEqual(candidates("dtrace -P sysc"), ["syscall"])
        self.assertEqual(candidates("dtrace -qs "), [])
        self.assertEqual(candidates("dtrace re"), [])
        self.assertIn(str(os.getpid()), candidates("dtrace -p "))

    def test_words_that_options_take(self):
        self.assertEqual(candidates("dvm run --account="), ["--account=table", "--account=json"])
        self.assertEqual(candidates("dvm run --account=j"), ["--account=json"])
        self.assertEqual(candidates("dvm run --flame="), [])
        self.assertEqual(candidates("dvm run -X "), ["a", "c", "s", "t"])

    def test_tools(self):
        tools = candidates("dvm tool ")
        self.assertEqual(tools, [line.split()[0] for line in dvm("tool").stdout.splitlines()])
        self.assertIn("execsnoop", candidates("dvm tool exec"))

    def test_options_of_a_tool(self):
        options = candidates("dvm tool opensnoop -p 1 -")
        self.assertLessEqual({"-p", "-n", "-e", "-d", "-o", "-x", "--json", "--help"}, set(options))
        self.assertNotIn("-c", options)
        self.assertIn("-c", candidates("dvm tool funccount -"))
        self.assertEqual(candidates("dvm tool funccount -x bufp"), ["bufpolicy="])
        for line in ("dvm tool opensnoop -p ", "dvm tool funccount -p "):
            self.assertIn(str(os.getpid()), candidates(line))
        for line in ("dvm tool opensnoop ", "dvm tool opensnoop -n "):
            self.assertEqual(candidates(line), [], line)

    def test_options_that_help_hides_are_none(self):
        self.assertEqual(set(candidates("dvm run -")) & {"-3", "-6", "-A", "-a"}, set())

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

    def test_demangled_names_are_in_quotes(self):
        start = f"dvm run -c '{program('classes')}' -n 'pid$target:a.out:"
        self.assertEqual(candidates(start + '"zoo::Cat::fe'), ['pid$target:a.out:"zoo::Cat::feed":'])
        self.assertIn('pid$target:a.out:_ZN3zoo3Cat4feedERKNS_5NamedENS_4DietEb:', candidates(start + "_ZN3zoo3Cat4fe"))
        self.assertEqual(candidates(start + '"zoo::Cat::feed":e'), ['pid$target:a.out:"zoo::Cat::feed":entry'])

    def test_functions_and_modules_of_tools(self):
        start = f"dvm tool funclatency -c '{program('looper')} 1' "
        self.assertEqual(candidates(start + "fun"), ["func"])
        self.assertEqual(candidates(start + "-u fun"), ["func"])
        self.assertEqual(candidates(start + "func a."), ["a.out"])
        self.assertEqual(candidates(start + "func a.out x"), [])
        self.assertEqual(candidates("dvm tool funccount fun"), [])
        self.assertEqual(candidates(f"dvm tool funccount -c '{program('classes')}' zoo::Cat::f"), ["zoo::Cat::feed"])

    def test_bad_lines_have_no_candidates(self):
        for line in ("", "dvm run -x nosuch", "dvm list ':::::", "dvm run -p 999999999 -n pid$target:", "dvm run -n '\\"):
            result = dvm("complete", line)
            self.assertEqual((result.returncode, result.stderr), (0, ""), line)


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, command, env):
        self.pid, self.master = pty.fork()
        if self.pid == 0:
            os.execvpe(command[0], command, env)

    def send(self, text):
        os.write(self.master, text.encode())

    def wait_for(self, expected, seconds=60):
        seen = ""
        end = time.monotonic() + seconds
        while expected not in seen:
            if not select.select([self.master], [], [], max(0, end - time.monotonic()))[0]:
                raise AssertionError(f"no {expected!r} in {seen!r}")
            seen = (seen + os.read(self.master, 65536).decode(errors="replace")).replace("\a", "").replace(" \b", "")

    def close(self):
        os.close(self.master)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


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

    def test_bash_goes_on_to_the_next_field_in_quotes(self):
        """bash would close the quotes after a single candidate."""
        found = self.bash("dvm list 'syscall::openat", "dvm", "list", "'syscall::openat")
        self.assertIn("syscall::openat2:", found)
        found = self.bash("dvm list 'syscall::openat2", "dvm", "list", "'syscall::openat2")
        self.assertEqual(found, ["syscall::openat2:", "syscall::openat2:..."])  # what both have in common is inserted, and the quotes stay open
        found = self.bash("dvm list 'syscall::openat2:en", "dvm", "list", "'syscall::openat2:en")
        self.assertEqual(found, ["syscall::openat2:entry"])
        found = self.bash("dvm run -n \"syscall::openat2:en", "dvm", "run", "-n", "\"syscall::openat2:en")
        self.assertEqual(found, ["syscall::openat2:entry", "syscall::openat2:entry..."])

    def test_bash_on_a_terminal(self):
        """Quotes stay open where more may follow."""
        shell = self.shell(["bash", "--norc", "-i"], f"source {SCRIPTS}/dvm.bash")
        self.type(shell, ("dvm list \"syscall::openat2:en", "openat2:entry\" "), ("dvm run -x demangle=of", "demangle=off "))

    def shell(self, command, setup):
        """A shell on a terminal that has run the commands of `setup`."""
        shell = Terminal(command, dict(self.with_dvm_on_the_path(), TERM="dumb"))
        self.addCleanup(shell.close)
        shell.send(f"stty cols 300; {setup}; echo READ''Y\n")
        shell.wait_for("READY")
        return shell

    def type(self, shell, *further):
        """The line after TAB; the X marks the cursor."""
        for typed, expected in (("dvm run -n \"syscall::openat2:en", "\"syscall::openat2:entry"), ("dvm run -n 'syscall::openat2:en", "'syscall::openat2:entry"),
                                (f"dvm list -p {os.getpid()} \"pid\\$targ", "\"pid\\$target:"), ("dtrace -qx demangle=of", "demangle=off "),
                                ("dtrace -n 'syscall::openat2:en", "'syscall::openat2:entry"), *further):
            shell.send(typed + "\tX")
            shell.wait_for(expected + "X")
            shell.send("\x15")

    def test_the_shell_does_not_expand_the_dollar(self):
        start = f"dvm list -p {os.getpid()} "
        for word, expected in (("'pid$targ", "pid$target:"), ('"pid\\$targ', "pid\\$target:"), ("pid\\$targ", "pid\\$target:")):
            found = self.bash(start + word, "dvm", "list", "-p", str(os.getpid()), word)
            self.assertTrue(found and all(one.startswith(expected) for one in found), (word, found[:3]))

    def test_bash_registers_the_function(self):
        shown = subprocess.run(["bash", "-c", f"source {SCRIPTS}/dvm.bash; complete -p dvm"], capture_output=True, text=True, check=True)
        self.assertEqual(shown.stdout, "complete -o default -F _dvm dvm\n")
        shown = subprocess.run(["bash", "-c", f"source {SCRIPTS}/dvm.bash; complete -p dtrace"], capture_output=True, text=True, check=True)
        self.assertEqual(shown.stdout, "complete -o default -F _dvm dtrace\n")

    def with_dvm_on_the_path(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        for name in ("dvm", "dtrace"):
            (pathlib.Path(folder.name) / name).symlink_to(DVM)
        return dict(dvmtest.ENV, PATH=f"{folder.name}:{os.environ['PATH']}")

    def test_zsh(self):
        if shutil.which("zsh") is None:
            self.skipTest("there is no zsh")
        shell = self.shell(["zsh", "-f", "-i"], f"fpath=({SCRIPTS} $fpath); autoload -Uz compinit; compinit -D -u")
        process = os.getpid()
        for typed, expected in (("dvm reco", "dvm record "), ("dvm run -x bufpolicy=sw", "bufpolicy=switch "),
                                ("dvm list 'syscall::openat2:en", "'syscall::openat2:entry'"), ("dvm list syscall::openat2:en", "openat2:entry "),
                                (f"dvm list -p {process} 'pid$targ", "'pid$target:"), (f"dvm list -p {process} pid\\$targ", "pid\\$target:"),
                                ("dvm tool opensnoop --js", "--json ")):
            shell.send(typed + "\t")
            shell.wait_for(expected)
            shell.send("\x15")
        self.type(shell, ("dvm run -x temporal=of", "temporal=off "))

    def test_fish(self):
        if shutil.which("fish") is None:
            self.skipTest("there is no fish")
        for line, expected in (("dvm re", "record"), ("dvm list 'syscall::openat2:", "syscall::openat2:entry"), ("dvm run -x bufpolicy=r", "bufpolicy=ring"),
                               (f"dvm list -p {os.getpid()} 'pid$targ", "pid$target:"), ("dvm run -n \"syscall::openat2:", "syscall::openat2:entry"),
                               ("dvm run -x quiet=", "quiet=off"), ("dtrace -x quiet=", "quiet=off"), ("dvm tool opensnoop --js", "--json")):
            made = subprocess.run(["fish", "--no-config", "-c", f"source {SCRIPTS}/dvm.fish; complete -C $argv[1]", line], capture_output=True,
                                  text=True, check=True, env=self.with_dvm_on_the_path())
            self.assertIn(expected, made.stdout, line)

    def test_fish_keeps_quotes_open_for_a_clause(self):
        if shutil.which("fish") is None:
            self.skipTest("there is no fish")
        shell = self.shell(["fish", "--no-config", "-i"], f"function fish_prompt; end; source {SCRIPTS}/dvm.fish")
        for typed, expected in (("dvm run -n 'syscall::openat2:en", "openat2:entryX"), ("dvm list 'syscall::openat2:en", "openat2:entry' X")):
            shell.send(typed + "\tX")
            shell.wait_for(expected)
            shell.send("\x15")


if __name__ == "__main__":
    unittest.main()
