"""Code that a process maps anew, without the jumps of an agent that lay there. Uprobes take their place, or the agent places them again."""

import os
import pathlib
import re
import shutil
import subprocess
import time
import unittest

import dvmtest
from dvmtest import ENV, dvm, program

LIBRARY = str(pathlib.Path(program("renewed")).parent / "liblate_library.so")
AS_NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all")
PATIENCE = 60


def rows(result):
    return sorted(re.findall(r"^ +(\S+) +(\d+)$", result.stdout, re.M))


class Asked(dvmtest.PrivilegedTest):
    """A program that does something for each line of its input, and says then how many calls it has made."""

    def start(self, *words, prefix=()):
        self.target = subprocess.Popen([*prefix, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.addCleanup(self.target.communicate)
        self.addCleanup(self.target.kill)
        self.assertEqual(self.target.stdout.readline(), "0\n")

    def ask(self):
        self.target.stdin.write("\n")
        return int(self.target.stdout.readline())


class ByUprobes(Asked):
    def test_of_a_program_that_executes_itself(self):
        expected = [("0", "1"), ("1", "2"), ("2", "3"), ("3", "4")]
        for module in ("a.out", "renewed", ""):
            for script in ("pid$target:M:func:entry { @[arg0] = count(); }",
                           "pid$target:M:func:entry { self->n = arg0; } pid$target:M:func:return { @[self->n] = count(); }",
                           "pid$target:M:func:entry { n++; @[arg0] = count(); }"):
                with self.subTest(module=module, script=script):
                    result = dvmtest.dvm_in_time("run", "-q", "-x", "backend=agent", "-n", script.replace(":M:", f":{module}:"), "-c", program("renewed") + " exec 3")
                    self.assertEqual((result.returncode, result.stderr), (0, ""))
                    self.assertEqual(rows(result), expected)

    def counts_of_children(self, backend):
        result = dvm("run", "-q", "-x", f"backend={backend}", "-x", "followfork", "-n", "pid$target:libc.so.6:malloc:entry { @[execname] = count(); }",
                     "-c", "bash -c 'ls /etc/passwd; cat /etc/hostname; :'")
        self.assertEqual(result.returncode, 0, result.stderr)
        says_so = "dvm: a followed process executed a program with a file in which an agent had probes; "
        said = dvmtest.without_neighbours(result.stderr)
        self.assertTrue(said.startswith(says_so) if backend == "agent" else not said, said)
        return {name: count for name, count in rows(result) if name != "bash"}

    def test_of_programs_that_children_execute(self):
        """A program waits for its probes two seconds, which may be too short on a loaded machine."""
        for _ in range(5):
            expected, counts = self.counts_of_children("uprobe"), self.counts_of_children("agent")
            if counts == expected and sorted(counts) == ["cat", "ls"]:
                return
        self.fail(f"by uprobes {expected}, by an agent {counts}")

    def traced_while_it_opens(self, module):
        self.start(program("renewed"), "open", LIBRARY)
        tracer = dvmtest.start_tracer(self, f"pid$target:{module}:late_function:entry {{ @ = count(); }}", "-x", "backend=agent", "-p", str(self.target.pid))
        for calls in (10, 20, 30):
            self.assertEqual(self.ask(), calls)
        tracer.terminate()
        out, err = tracer.communicate()
        return out.split(), err

    def test_of_a_library_that_is_opened_again(self):
        """The process waits for its probes, but for two seconds only. dvm says if that was not enough."""
        for module in ("liblate_library.so", ""):
            with self.subTest(module):
                for _ in range(5):
                    out, err = self.traced_while_it_opens(module)
                    if "dvm was too slow" not in err:
                        break
                self.assertEqual((out, err), (["30"], ""))


class ByAgents(Asked):
    """Where uprobes are not permitted: what fires in files that are mapped again is lost until the agent is back, and dvm says so."""

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            dvmtest.skip_or_fail(self, "needs root, to become a user")
        folder = dvmtest.own_folder(self)
        os.chmod(folder, 0o755)
        self.dvm = dvmtest.copy_of_dvm(folder)
        self.program, self.library = (shutil.copy(file, folder) for file in (program("renewed"), LIBRARY))

    def trace(self, script, *options):
        """The script ends by itself once it has seen enough, for which the program is asked again and again."""
        command = [*AS_NOBODY, self.dvm, "run", "-q", "-n", 'BEGIN { printf("live\\n"); } ' + script, *options, "-p", str(self.target.pid)]
        tracer = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENV)
        self.addCleanup(tracer.communicate)
        self.addCleanup(tracer.kill)
        self.assertEqual(tracer.stdout.readline(), "live\n")
        end = time.monotonic() + PATIENCE
        while tracer.poll() is None and time.monotonic() < end:
            self.ask()
            time.sleep(0.05)
        tracer.terminate()
        return tracer.communicate()

    def test_of_a_program_that_executes_itself(self):
        self.start(self.program, "lines", "1", prefix=AS_NOBODY)
        out, err = self.trace("pid$target:renewed:func:entry { @[arg0] = count(); } pid$target:renewed:func:entry /arg0 == 0/ { exit(0); }")
        self.assertRegex(out, r" 1 +10\n")
        self.assertRegex(out, r" 0 +\d+\n")
        self.assertEqual(err, "")

    def test_of_a_wrapper(self):
        """A shell, which has libc mapped as well."""
        self.start("sh", "-c", f"echo 0; read line; exec {self.program} lines 0", prefix=AS_NOBODY)
        out, err = self.trace("pid$target:libc.so.6:getc:entry, pid$target::func:entry { @[probefunc] = count(); } pid$target:a.out:func:entry { exit(0); }", "-Z")
        self.assertRegex(out, r"func +\d+\n")
        self.assertNotIn("lost, ", err.replace("are lost, which", ""))

    def test_of_a_library_that_is_opened_again(self):
        self.start(self.program, "open", self.library, prefix=AS_NOBODY)
        out, err = self.trace("pid$target:liblate_library.so:late_function:entry { @ = count(); } "
                              "pid$target:liblate_library.so:late_function:entry /n++ == 12/ { exit(0); }")
        self.assertGreater(int(out.split()[0]), 10)
        self.assertEqual(dvmtest.without_slowness(err), "")


class TextOfHeir(dvmtest.Text):
    """Of a process whose first thread has ended."""

    def changed(self):
        heir = next(thread for thread in os.listdir(f"/proc/{self.pid}/task") if int(thread) != self.pid)
        with open(f"/proc/{self.pid}/task/{heir}/mem", "rb") as memory:
            memory.seek(self.begin)
            return memory.read(len(self.original)) != self.original


class WithoutFirstThread(Asked):
    def test_stacks_are_whole(self):
        self.start(program("renewed"), "heir")
        tracer = dvmtest.start_tracer(self, "pid$target:renewed:func:entry { @[ustack(2)] = count(); }", "-x", "backend=agent", "-p", str(self.target.pid))
        self.assertEqual((self.ask(), self.ask()), (0, 10))
        tracer.terminate()
        out, err = tracer.communicate()
        self.assertRegex(out, r"^\s+renewed`func\s+renewed`call_for_lines\+0x[0-9a-f]+\s+10\s+$", err)

    def test_files_that_come_later_are_told_of(self):
        self.start(program("renewed"), "heir", LIBRARY)
        tracer = dvmtest.start_tracer(self, "pid$target:liblate*:late_function:entry { @ = count(); }", "-Z", "-x", "backend=uprobe", "-p", str(self.target.pid))
        self.assertEqual((self.ask(), self.ask()), (0, 10))
        tracer.terminate()
        _, err = tracer.communicate()
        self.assertIn("1 probe of files that were mapped late is left out, late_function of liblate_library.so: the kernel places no uprobes", err)
        self.assertIn(f"process {self.target.pid}: the kernel places no uprobes once the first thread of a process has ended", err)

    def test_all_probes_are_taken_off(self):
        for ends in ("exits", "is killed"):
            with self.subTest(ends):
                self.start(program("renewed"), "heir")
                text = TextOfHeir(self.target.pid, "renewed")
                tracer = dvmtest.start_tracer(self, "pid$target:renewed:func:entry { @ = count(); }", "-x", "backend=agent", "-p", str(self.target.pid))
                self.assertEqual((self.ask(), self.ask()), (0, 10))
                self.assertTrue(text.changed())
                tracer.terminate() if ends == "exits" else tracer.kill()
                out, err = tracer.communicate()
                self.assertTrue(dvmtest.eventually(lambda: not text.changed()))
                self.assertEqual((out.split(), err), (["10"], "") if ends == "exits" else ([], ""))


if __name__ == "__main__":
    unittest.main()
