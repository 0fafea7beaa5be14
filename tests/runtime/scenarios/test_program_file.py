"""dvm compile writes a program, dvm exec runs it: with the output of dvm run, on another process too."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import dvmtest
from dvmtest import ROOT, dvm, program

# Scripts whose output is the same at every run.
SCRIPTS = sorted((ROOT / "tests/runtime/language").glob("tst.*.d")) + sorted((ROOT / "tests/runtime/aggregations").glob("tst.*.d"))


def without_cpu(text):
    """The rows of a run without their first column."""
    return re.sub(r"(?m)^ +\d+( +\d+ )", r"\1", text)


class Folder(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "program")

    def compile(self, *args):
        result = dvm("compile", "--dif", self.path, *args)
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)


class Programs(Folder):
    def test_exec_prints_what_run_prints(self):
        compared = 0
        for script in SCRIPTS:
            ran = dvm("run", str(script))
            if ran.returncode != 0 or "$target" in script.read_text():
                continue
            self.compile(str(script))
            executed = dvm("exec", self.path)
            self.assertEqual((executed.returncode, without_cpu(executed.stdout)), (0, without_cpu(ran.stdout)), f"{script}: {executed.stderr}")
            self.assertEqual(executed.stderr, ran.stderr)
            compared += 1
        self.assertGreater(compared, 5)

    def test_arguments_and_options_are_compiled_in(self):
        script = os.path.join(self.folder.name, "x.d")
        pathlib.Path(script).write_text("#pragma D option quiet\nBEGIN { printf(\"%d %s\\n\", $1, $$2); exit(3); }\n")
        self.compile("-x", "strsize=5", script, "12", "a long text")
        result = dvm("exec", self.path)
        self.assertEqual((result.returncode, result.stdout.rstrip(), result.stderr), (3, "12 a lon", ""))
        result = dvm("exec", "-x", "strsize=9", self.path)
        self.assertEqual(result.stdout.rstrip(), "12 a long te")

    def test_options_of_run(self):
        self.compile("-n", "BEGIN { exit(4); }")
        lines = [json.loads(line) for line in dvm("exec", "--json", self.path).stdout.splitlines()]
        self.assertEqual([line["type"] for line in lines], ["record", "exit"])
        self.assertEqual(lines[1]["status"], 4)
        listed = dvm("exec", "-l", self.path)
        self.assertEqual(listed.returncode, 0)
        self.assertIn("BEGIN", listed.stdout)

    def test_several_programs_share_their_variables(self):
        self.compile("-q", "-n", "BEGIN { x = 4; }", "-n", "BEGIN { trace(x); exit(0); }")
        self.assertEqual(dvm("exec", self.path).stdout.rstrip(), "4")

    def test_compile_checks_without_tracing(self):
        result = dvm("compile", "-n", "BEGIN { x = nosuch; }", "--dif", self.path)
        self.assertEqual(result.returncode, 1)
        self.assertIn("nosuch", result.stderr)
        self.assertEqual(os.listdir(self.folder.name), [])
        result = dvm("compile", "-w", "-q", "-F", "-c", "true", "-n", "pid$target:::entry { trace($1); }", "5")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertTrue(result.stdout.startswith("\nDIFO 0x1 returns D type (integer) (size 4)\nOFF OPCODE      INSTRUCTION\n"))

    def test_probes_have_the_numbers_of_the_list(self):
        listed = dvm("list", "-n", "syscall::write:entry").stdout.splitlines()
        number = listed[-1].split()[0]
        self.compile("-n", f"1,{number} {{ trace(id); }}")
        rows = dvm("exec", "-l", self.path).stdout.splitlines()[1:]
        self.assertEqual([row.split() for row in rows], [["1", "dtrace", "BEGIN"], [number, "syscall", "write", "entry"]])
        result = dvm("compile", "-n", "4000000000 { }")
        self.assertIn("invalid probe identifier 4000000000: Unknown probe identifier", result.stderr)

    def test_the_checked_tree_has_types(self):
        result = dvm("compile", "--emit-ast", "-n", "BEGIN { trace(pid + 1ul); }")
        self.assertEqual(result.stdout, "clause :::BEGIN\n  action trace\n    Binary +: unsigned long\n"
                         "      Identifier pid: pid_t\n      Integer 1: unsigned long\n")

    def test_what_cannot_be_written_leaves_nothing(self):
        result = dvm("compile", "--dif", os.path.join(self.folder.name, "none/program"), "-n", "BEGIN")
        self.assertEqual(result.returncode, 1)
        self.assertIn("No such file or directory", result.stderr)
        os.mkdir(self.path)
        self.assertEqual(dvm("compile", "--dif", self.path, "-n", "BEGIN").returncode, 1)
        self.assertEqual(os.listdir(self.folder.name), ["program"])

    def test_damaged_and_other_files_are_refused(self):
        self.compile("-n", "BEGIN { @[execname] = count(); exit(0); }")
        whole = pathlib.Path(self.path).read_bytes()
        for content in [b"", b"BEGIN", whole[:-1], whole[:40], whole + b"x"] + [whole[:n] + b"\xff" + whole[n + 1:] for n in range(0, len(whole), 7)]:
            if content == whole:
                continue
            pathlib.Path(self.path).write_bytes(content)
            result = dvm("exec", self.path)
            self.assertEqual((result.returncode, result.stdout), (1, ""), result.stderr)
            self.assertIn(self.path, result.stderr)
        self.assertEqual(dvm("exec", "/nosuch/file").returncode, 1)

    def test_probes_are_matched_when_it_runs(self):
        self.compile("-n", "nosuch:::probe { trace(1); }")
        result = dvm("exec", self.path)
        self.assertEqual(result.returncode, 1)
        self.assertIn("nosuch:::probe", result.stderr)
        result = dvm("compile", "-n", "nfsv3:::op-read-start { trace(args[0]); }")
        self.assertEqual(result.returncode, 1)
        self.assertIn("failed to resolve native types for args[ ]: dvm has no nfsv3 provider, for NFS; use ", result.stderr)
        self.compile("-n", "pid$target:a.out:main:entry { trace(1); }")
        result = dvm("exec", self.path)
        self.assertEqual(result.returncode, 1)
        self.assertIn("$target needs -p PID or -c CMD", result.stderr)


class Types(Folder):
    """dvm compile asks the program of -p or -c for types, as dvm run does."""

    def listing(self, *args):
        result = dvm("compile", "-S", *args)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_of_a_command_that_is_not_started(self):
        command = f"{program('types')} '' >{self.path}"
        script = ["-n", "pid$target:a.out:visit:entry { trace(args[0]->value); trace(((struct node *)arg0)->color); }"]
        self.assertIn("uldx [%r1], %r1", self.listing("-c", command, *script))
        self.compile("-c", command, *script)
        result = dvm("compile", "-c", command, "-n", "BEGIN { trace(`counter); }")
        self.assertIn("failed to resolve `counter: there is no process, so it has no address", result.stderr)
        self.assertIn("setx", self.listing("-c", command, "-n", "BEGIN { trace(sizeof (`counter)); trace(sizeof (`counter + 1)); }"))
        result = dvm("compile", "-c", "nosuchprogram", *script)
        self.assertEqual((result.returncode, result.stderr), (1, "dvm: failed to execute nosuchprogram: No such file or directory\n"))

    def test_of_a_process(self):
        with subprocess.Popen([program("looper"), "1000000000"], stdout=subprocess.DEVNULL) as process:
            self.addCleanup(process.kill)
            listing = self.listing("-p", str(process.pid), "-n", "pid$target:a.out:func:entry { trace(stringof(args[0])); }")
            self.assertIn("! copyinstr", listing)
            result = dvm("compile", "-p", str(process.pid), "-n", f"pid{process.pid}:a.out:fnc:entry {{ trace(args[0]); }}")
            self.assertIn("failed to lookup 'fnc' in module 'looper'", result.stderr)
            process.kill()
        result = dvm("compile", "-p", str(process.pid), "-n", "BEGIN")
        self.assertIn(f"failed to grab process {process.pid}: No such process", result.stderr)

    def test_without_a_program_the_hint_names_the_options(self):
        result = dvm("compile", "-n", "BEGIN { trace(`counter); }")
        self.assertIn("(name one with -p PID or -c COMMAND)", result.stderr)


class Targets(Folder, dvmtest.PrivilegedTest):
    def test_system_calls_have_the_arguments_that_the_kernel_describes(self):
        result = dvm("compile", "-n", "syscall::read:entry { trace(args[2]); }")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_target_is_the_process_of_exec(self):
        self.compile(str(ROOT / "examples/looper.d"))
        for calls in (10, 1000):
            result = dvm("exec", "-q", self.path, "-c", f"{program('looper')} {calls}")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(re.search(rf"\n +{calls}\n", result.stdout), result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
