"""What dvm run does in place of tracing, as dtrace does: -V, -h, -G; and options that are given twice or wrongly."""

import os
import subprocess
import unittest

import dvmtest
from dvmtest import dvm

PROVIDER = "provider moss { probe grow(int); };\n"


class Modes(unittest.TestCase):
    def setUp(self):
        self.folder = dvmtest.own_folder(self)
        (self.folder / "moss.d").write_text(PROVIDER)

    def run_here(self, *words, env=None):
        return dvm("run", *words, cwd=self.folder, env=dict(dvmtest.ENV, **env) if env else None)

    def check_refused(self, words, message, status):
        result = self.run_here(*words)
        self.assertEqual((result.returncode, result.stderr.splitlines()[0]), (status, "dvm: " + message))

    def test_version(self):
        result = self.run_here("-V")
        self.assertRegex(result.stdout, r"^dvm: D 2\.\d+\n$")

    def test_a_program_with_probes_builds_by_the_rules_for_dtrace(self):
        (self.folder / "grow.c").write_text('#include "moss.h"\nint main(void) { MOSS_GROW(3); return 7; }\n')
        self.assertEqual(self.run_here("-h", "-s", "moss.d").stderr, "")
        subprocess.run(["cc", "-c", "grow.c"], cwd=self.folder, check=True)
        self.assertEqual(self.run_here("-G", "-s", "moss.d", "grow.o").stderr, "")
        subprocess.run(["cc", "-Wl,--fatal-warnings", "-o", "grow", "grow.o", "moss.o"], cwd=self.folder, check=True)
        self.assertEqual(subprocess.run(["./grow"], cwd=self.folder).returncode, 7)

    def test_an_object_is_named_by_o(self):
        self.assertEqual(self.run_here("-G", "-o", "other.o", "-n", "BEGIN { exit(0); }").returncode, 0)
        self.assertEqual((self.folder / "other.o").read_bytes()[:4], b"\x7fELF")
        self.assertEqual(self.run_here("-G", "-o", "wrong.o", "-n", "BEGIN { exit(; }").returncode, 1)
        self.assertFalse((self.folder / "wrong.o").exists())

    def test_modes_exclude_each_other(self):
        self.check_refused(["-l", "-V"], "only one of the [-GhlV] options can be specified at a time", 2)
        for mode in "hG":
            self.check_refused([f"-{mode}"], f"-{mode} requires one or more scripts or enabling options", 2)

    def test_no_program(self):
        self.assertEqual(self.run_here("-b", "1k", "-e").returncode, 0)
        self.check_refused(["-9"], "illegal option -- 9", 2)
        self.check_refused(["-x", "empty", "-n", ""], "description '' matched 0 probes", 1)

    def test_the_usual_timers_are_listed(self):
        self.assertIn("tick-5000", self.run_here("-l", "-P", "profile").stdout)

    def test_data_models(self):
        self.assertEqual(self.run_here("-64", "-q", "-n", 'BEGIN { printf("%d", sizeof (long)); exit(0); }').stdout.strip(), "8")
        self.check_refused(["-32", "-n", "BEGIN"], "-32 is not possible: D programs are 64-bit here", 1)
        self.check_refused(["-65", "-n", "BEGIN"], "illegal option -- 65", 2)

    def test_a_wrong_value_is_named_as_it_was_given(self):
        for words, what in ((["-b", "4q"], "-b 4q"), (["-X", "q"], "-X q"), (["-x", "bufsize=4q"], "-x bufsize")):
            self.check_refused([*words, "-n", "BEGIN"], f"failed to set {what}: Invalid value for specified option", 1)

    def test_the_environment_sets_options(self):
        say = ["-q", "-n", 'BEGIN { trace("feldspar"); exit(0); }']
        self.assertEqual(self.run_here(*say, env={"DTRACE_OPT_STRSIZE": "4"}).stdout.strip(), "feld")
        self.assertEqual(self.run_here("-x", "strsize=6", *say, env={"DTRACE_OPT_STRSIZE": "4"}).stdout.strip(), "feldsp")
        result = self.run_here(*say, env={"DTRACE_OPT_STRSIZE": "x", "DTRACE_OPT_NOSUCH": "1"})
        self.assertEqual((result.stdout.strip(), result.stderr), ("feldspar", ""))

    def test_a_process_that_is_not_there(self):
        self.check_refused(["-p", "999999999", "-n", "BEGIN"], "No such process", 1)

    def test_cpu_is_also_that_of_begin(self):
        cpu = max(os.sched_getaffinity(0))
        result = self.run_here("-q", "-x", f"cpu={cpu}", "-n", "BEGIN { @ = max(cpu); trace(cpu); exit(0); }")
        self.assertEqual(result.stdout.split(), [str(cpu)] * 2)
        self.assertIn("could not enable tracing: CPU 99999 is not online", self.run_here("-x", "cpu=99999", "-n", "BEGIN").stderr)

    def test_tick_fires_for_the_one_cpu_wherever_dvm_runs(self):
        cpus = sorted(os.sched_getaffinity(0))
        script = "tick-10ms { trace(cpu); exit(0); }"
        for here, wanted in ((cpus[0], cpus[-1]), (cpus[-1], cpus[0])):
            command = ["taskset", "-c", str(here), dvmtest.DVM, "run", "-q", "-x", f"cpu={wanted}", "-n", script]
            self.assertEqual(subprocess.run(command, capture_output=True, text=True, timeout=60).stdout.strip(), str(wanted))

    def test_clauses_need_no_comma_between_them(self):
        for text, missing in (("1-3", ":::-3"), ("BEGIN moss4", ":::moss4"), ("moss4 1", ":::moss4")):
            self.check_refused(["-n", text], f"invalid probe specifier {text}: probe description {missing} does not match any probes", 1)

    def test_the_last_output_file_counts(self):
        for one, other in (("a", "b"), ("c", "a")):
            self.assertEqual(self.run_here("-q", "-o", one, "-o", other, "-n", f'BEGIN {{ printf("{one}{other}"); exit(0); }}').returncode, 0)
        names = {name: (self.folder / name).read_text().strip() for name in "abc" if (self.folder / name).exists()}
        self.assertEqual(names, {"b": "ab", "a": "ca"})

    def test_each_c_starts_a_process_and_the_first_is_the_target(self):
        commands = [word for name in ("first", "second") for word in ("-c", f"sh -c 'echo $$ > {name}'")]
        result = self.run_here("-q", "-n", 'END { printf("%d", $target); }', *commands)
        first, second = ((self.folder / name).read_text().strip() for name in ("first", "second"))
        self.assertEqual((result.returncode, result.stdout.strip()), (0, first))
        self.assertNotEqual(first, second)

    def test_anonymous_tracing_is_refused(self):
        for option in ("-A", "-a"):
            self.check_refused([option, "-n", "BEGIN"], "-A and -a are not possible: Linux enables no probes while it boots", 1)

    def test_without_a_process_target_is_0(self):
        result = self.run_here("-q", "-n", 'BEGIN /$target == 0/ { printf("%d %d", $projid, $taskid); exit(0); }')
        self.assertEqual((result.returncode, result.stdout.strip()), (0, "0 0"))
        self.assertIn("$target needs -p PID or -c CMD", self.run_here("-n", "pid$target:::entry").stderr)


if __name__ == "__main__":
    unittest.main()
