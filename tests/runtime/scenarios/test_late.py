"""Files that a process maps while it is traced: libraries that it opens late, and programs that it executes. Descriptions are matched again."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import dvmtest
from dvmtest import DVM, ENV, dvm, program

LIBRARY = str(pathlib.Path(program("late")).parent / "liblate_library.so")


LOST_FIRST_THREAD = "executed a program in a thread that was not its first: probes enabled in it before have not fired since;"

# While dvm is stopped, opens a library, which asks dvm to match again, and becomes another program.
STOPS_DVM_AND_EXECUTES = """
import _ctypes, os, signal, subprocess, sys, threading
library, program = sys.argv[1:]
def become():
    dvm = os.getppid()
    os.kill(dvm, signal.SIGSTOP)
    has_executed = f"grep -q {os.path.basename(program)} /proc/{os.getpid()}/comm"
    subprocess.Popen(["sh", "-c", f"for i in $(seq 200); do {has_executed} && break; sleep 0.05; done; sleep 0.1; kill -CONT {dvm}"])
    _ctypes.dlopen(library, os.RTLD_NOW)
    os.execv(program, [program, "2000000000"])
threading.Thread(target=become).start()
"""


def late(*args):
    return " ".join([program("late"), *args])


class Late(dvmtest.PrivilegedTest):
    def run_until_it_fires(self, text, command, *options):
        """The program calls until it is ended, which the script does."""
        result = dvm("run", "-q", *options, "-n", text, "-c", command)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(dvmtest.without_slowness(result.stderr), "")
        return result.stdout

    def test_a_module_that_is_a_glob(self):
        out = self.run_until_it_fires('pid$target:liblate*:late_function:entry { printf("%s %s %d", probemod, probefunc, arg0); exit(0); }',
                                      late(LIBRARY, "patient"), "-Z")
        self.assertEqual(out.strip(), "liblate_library.so late_function 1")

    def test_a_module_that_is_not_there_yet(self):
        out = self.run_until_it_fires('pid$target:liblate_library:late_function:return { printf("%d", arg1 > 0); exit(0); }',
                                      late(LIBRARY, "patient"), "-Z")
        self.assertEqual(out.strip(), "1")

    def test_beside_what_is_matched_already(self):
        out = self.run_until_it_fires('pid$target::call*:entry, pid$target::late_function:entry { @[probefunc] = count(); } '
                                      'pid$target::late_function:entry /arg0 == 1/ { self->seen++; } '
                                      'pid$target::late_function:return /self->seen > 20/ { exit(0); }',
                                      late(LIBRARY, "patient"), "-Z")
        self.assertRegex(out, r"call_patiently +1\n")
        self.assertRegex(out, r"late_function +\d+\n")

    def test_without_a_late_glob_an_unmatched_description_is_refused(self):
        result = dvm("run", "-n", "pid$target:liblate_library:late_function:entry { }", "-c", late(LIBRARY, "patient"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("failed to find module 'liblate_library'", result.stderr)

    def test_a_clause_that_is_enabled_late_may_still_be_refused(self):
        """Which is said when it is enabled, however long the program takes to open its library."""
        script = "pid$target:liblate*:late_function:entry { stop(); } tick-60s { exit(1); }"
        command = [DVM, "run", "-q", "-Z", "-n", script, "-c", late(LIBRARY, "patient")]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=ENV) as tracer:
            self.assertIn("Destructive actions not allowed", tracer.stderr.readline())
            tracer.send_signal(signal.SIGINT)
            self.assertEqual(tracer.wait(), 0)

    def executed(self, path):
        """How often the functions of each module have fired, once a program has executed a file thrice."""
        result = dvm("run", "-q", "-n", "pid$target:a.out:func:entry { @[probemod] = count(); }", "-c", f"{program('renewed')} exec 3 {path}")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout.split()

    def test_a_program_that_executes_its_file_by_another_name_fires_once(self):
        folder = dvmtest.own_folder(self)
        (folder / "link").symlink_to(program("renewed"))
        self.assertEqual(self.executed(folder / "link"), ["renewed", "10"])

    def test_a_program_that_executes_another_one_of_its_name(self):
        other = dvmtest.own_folder(self) / "renewed"
        shutil.copy(program("renewed"), other)
        self.assertEqual(sorted(self.executed(other)), sorted(["renewed", "4", str(other), "6"]))

    def test_strings_keys_and_records_of_a_late_clause(self):
        out = self.run_until_it_fires('int calls; pid$target:liblate*:late_function:entry { @["a key of some length", probefunc, arg0] = count(); '
                                      'names[probefunc] = "value"; calls++; } '
                                      'pid$target:liblate*:late_function:return /calls >= 3/ '
                                      '{ printf("%s", names[probefunc]); printa("%s %s %d", @); exit(0); }',
                                      late(LIBRARY, "patient"), "-Z")
        self.assertRegex(out.strip(), r"^value\s*a key of some length late_function 1")

    def test_the_program_that_a_process_becomes(self):
        out = self.run_until_it_fires('pid$target:a.out:func:entry { printf("%s", probemod); exit(0); }',
                                      late("exec", program("looper"), "2000000000"), "-Z")
        self.assertEqual(out.strip(), "looper")

    def test_a_program_that_is_linked_statically(self):
        """It does not wait for its probes. Whether it still runs when dvm looks is a matter of time."""
        for options in ([], ["-x", "followfork"]):
            result = dvm("run", "-q", "-x", "backend=uprobe", *options, "-Z", "-n", "pid$target:strings_static:main:entry { }", "-c", f"env {program('strings_static')}")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stderr, r"(?m)^dvm: process \d+ has executed a program (that its dynamic linker does not report|and ended before)")

    def test_a_program_that_a_static_one_executes(self):
        script = "pid$target:a.out:func:entry { exit(0); } tick-10s { exit(1); }"
        for backend in ("uprobe", "agent"):
            result = dvm("run", "-q", "-x", f"backend={backend}", "-Z", "-n", script, "-c", f"{program('becomes_static')} {program('looper')} 2000000000")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stderr, r"(?m)^dvm: process \d+ has executed a program that its dynamic linker does not report")

    def test_a_program_that_another_thread_executes(self):
        """Uprobes of one process end with its first thread. On a busy machine dvm may enable those of the program in time."""
        command = f"{sys.executable} -S -c \"import os, threading; threading.Thread(target=lambda: os.execv('{program('looper')}', ['looper', '5'])).start()\""
        for options, counts, is_told in [([], range(1, 7), True), (["-x", "followfork"], [6], False)]:
            result = dvm("run", "-q", "-x", "backend=uprobe", *options, "-n", "pid$target:libc.so.6:execv:entry,pid$target:a.out:func:entry { @ = count(); }", "-Z", "-c", command)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn(int(result.stdout.split()[-1]), counts, result.stderr)
            self.assertEqual(LOST_FIRST_THREAD in result.stderr, is_told, result.stderr)

    def test_probes_that_are_enabled_after_another_thread_has_executed_a_program(self):
        """Here dvm is stopped when the process opens a library, and enables the probes in what the process has become."""
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(STOPS_DVM_AND_EXECUTES)
            file.flush()
            result = dvm("run", "-q", "-Z", "-x", "backend=uprobe", "-n", "pid$target:libc.so.6:execv:entry { } pid$target:a.out:func:entry /n++ == 4/ { printf(\"%d\", n); exit(0); }",
                         "-c", f"{sys.executable} -S {file.name} {LIBRARY} {program('looper')}")
        self.assertEqual((result.returncode, result.stdout.strip()), (0, "5"), result.stderr)
        self.assertIn(LOST_FIRST_THREAD, result.stderr)

    def test_from_the_first_call_beside_a_probe_that_is_on(self):
        """By an agent, too: it leaves the library to uprobes. The thread then has no variables of its own."""
        script = "self int n; pid$target:a.out:open_and_call:return { @n[probefunc, self->n] = count(); } pid$target:liblate*:late_function:entry { @n[probefunc, ++self->n] = count(); }"
        result = dvmtest.dvm_in_time("run", "-q", "-Z", "-x", "aggsortkey", "-n", script, "-c", late(LIBRARY, "3"))
        self.assertEqual([line.split() for line in result.stdout.splitlines()[1:] if line],
                         [["late_function", "1", "1"], ["late_function", "2", "1"], ["late_function", "3", "1"], ["open_and_call", "3", "1"]], result.stderr)

    def test_from_the_first_call_on_one_processor(self):
        """The process that waits lets dvm run there."""
        before = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, before)
        os.sched_setaffinity(0, [min(before)])
        result = dvmtest.dvm_in_time("run", "-q", "-Z", "-x", "backend=uprobe", "-n", "pid$target:liblate*:late_function:entry { @ = count(); }", "-c", late(LIBRARY, "3", "2"))
        self.assertEqual((result.stdout.split(), result.stderr), (["3", "3", "6"], ""))

    def test_a_process_that_has_waited_in_vain_is_told_of(self):
        """The process opens the library while dvm waits for the command. On a busy machine dvm may see the firing after that."""
        script = 'pid$target:a.out:open_and_call:entry /!n++/ { system("sleep 5"); } pid$target:liblate*:late_function:entry { @ = count(); }'
        for _ in range(10):
            result = dvm("run", "-q", "-Z", "-w", "-x", "switchrate=1ms", "-n", script, "-c", late(LIBRARY, "1", "20"))
            if result.stderr:
                break
        self.assertRegex(result.stderr, r"^dvm: dvm was too slow: \d+ times? a process has continued before probes of files that it had mapped were enabled; they may have missed firings\n$")

    def test_opening_and_closing_harms_nobody(self):
        result = dvm("run", "-q", "-Z", "-n", "pid$target:liblate*::entry { @ = count(); }", "-c", late(LIBRARY, "10", "20"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([line for line in result.stdout.split("\n") if line == "10"], ["10"] * 20)

    def test_a_tracer_that_is_stopped_holds_nobody_up(self):
        """A process that opens a library waits until its probes are on, but not for a dvm that does not answer."""
        with subprocess.Popen([program("late"), LIBRARY, "1", "1000000"], stdout=subprocess.PIPE, text=True) as target:
            self.addCleanup(target.kill)
            target.stdout.readline()
            script = 'BEGIN { printf("live\\n"); } pid$target:liblate*::entry { @ = count(); }'
            with subprocess.Popen([DVM, "run", "-q", "-Z", "-n", script, "-p", str(target.pid)], stdout=subprocess.PIPE, text=True, env=ENV) as tracer:
                self.addCleanup(tracer.kill)
                self.assertEqual(tracer.stdout.readline(), "live\n")
                tracer.send_signal(signal.SIGSTOP)
                signal.alarm(100)  # as long as 50 openings would take that are waited for
                for _ in range(20_000):
                    self.assertNotEqual(target.stdout.readline(), "")
                signal.alarm(0)
                tracer.kill()
            target.kill()


if __name__ == "__main__":
    unittest.main()
