"""Processes that the traced one forks: followed with -x followfork, and left alone without."""

import functools
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import dvmtest
from dvmtest import dvm

PATIENCE = 120
WORK = "pid$target:forks:work:entry"


@functools.cache
def own_programs():
    return tempfile.TemporaryDirectory()


def program(name):
    """A copy of its own: uprobes that follow forks lie in all processes of a file, and are refused where another test has an agent in one."""
    copy = os.path.join(own_programs().name, name)
    return copy if os.path.exists(copy) else shutil.copy(dvmtest.program(name), copy)


def forks(*words):
    return " ".join([program("forks"), *words])


class Forks(dvmtest.PrivilegedTest):
    def run_to_end(self, text, command, *options):
        result = dvmtest.dvm_in_time("run", "-q", *options, "-n", text, "-c", command)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def follow(self, text, command, *options):
        return self.run_to_end(text, command, "-x", "followfork", *options)

    def rows(self, out):
        return sorted(line.split() for line in out.split("\n") if line)

    def test_without_the_option_children_are_not_traced(self):
        self.assertEqual(self.rows(self.run_to_end(WORK + " { @[arg0] = count(); }", forks("5"))), [["0", "1"]])

    def test_children_and_theirs_are_traced_from_their_first_call(self):
        out = self.follow(WORK + " { @[arg0] = count(); }", forks("5"))
        self.assertEqual(self.rows(out), [["0", "1"], ["1", "1"], ["100", "5"], ["2", "2"], ["3", "3"], ["4", "4"], ["5", "5"]])

    def test_the_option_may_be_a_pragma(self):
        result = dvm("run", "-q", "-s", "/dev/stdin", "-c", forks("3"), stdin=self.script("#pragma D option followfork\n" + WORK + " { @ = count(); }"))
        self.assertEqual((result.returncode, result.stdout.split(), result.stderr), (0, ["10"], ""))

    def run_many(self, limits):
        """More programs than files that dvm may have open, each with one firing of func()."""
        folder = dvmtest.own_folder(self)
        for number in range(20):
            shutil.copy(dvmtest.program("looper"), folder / f"program{number}")
        (folder / "all").write_text(f"for program in {folder}/program*; do $program 1; done\n")
        for _ in range(5):
            result = subprocess.run(["prlimit", f"--nofile={limits}", dvmtest.DVM, "run", "-q", "-Z", "-x", "followfork", "-n", "pid$target:a.out:func:entry { @ = count(); }",
                                     "-c", f"sh {folder}/all"], capture_output=True, text=True, timeout=PATIENCE, env=dvmtest.ENV)
            if not re.search("dvm was too slow|ended before|only libraries that", result.stderr):
                break
        return result

    def test_more_programs_than_open_files(self):
        result = self.run_many("40:4096")
        self.assertEqual((result.stdout.split()[-1], dvmtest.without_neighbours(result.stderr)), ("20", ""))
        if not dvmtest.SANITIZED:  # they need files themselves
            self.assertIn("dvm: nearly all file descriptors are in use (ulimit -n)", self.run_many("40:40").stderr)

    def script(self, text):
        pipe = subprocess.Popen(["printf", "%s", text], stdout=subprocess.PIPE)
        self.addCleanup(pipe.communicate)
        return pipe.stdout

    def test_who_a_child_is(self):
        out = self.follow(WORK + " { @[copyinstr(arg1), execname, pid == $target, tid == pid, progenyof($target), ppid == $target] = count(); }", forks("4"))
        self.assertEqual(self.rows(out), [["child", "forks", "0", "1", "1", "1", "10"], ["grandchild", "forks", "0", "1", "1", "0", "4"],
                                          ["parent", "forks", "1", "1", "1", "0", "1"]])

    def test_memory_that_is_read_late_is_the_childs(self):
        text = WORK + " /arg0 == 100/ { printf(\"%s\\n\", copyinstr(arg1 + (arg0 - arg0) * 3)); }"
        self.assertEqual(self.follow(text, forks("3")).split(), ["grandchild"] * 3)

    def test_returns_and_thread_local_variables(self):
        out = self.follow(WORK + " { self->which = arg0 + 1; } pid$target:forks:work:return { @[arg1 == self->which] = count(); self->which = 0; }", forks("4"))
        self.assertEqual(self.rows(out), [["1", "15"]])

    def test_stacks_of_children_that_are_gone(self):
        out = self.follow(WORK + " /arg0 == 100/ { @[ustack(3)] = count(); }", forks("3"))
        self.assertEqual(re.sub(r"\+0x[0-9a-f]+", "", out).split(), ["forks`work", "forks`grandchild", "forks`child", "1"] * 3)

    def test_every_child_of_many(self):
        self.assertEqual(self.follow(WORK + " /arg0 == 100/ { @ = count(); }", forks("60")).split(), ["60"])

    def test_another_program_that_a_child_becomes(self):
        out = self.follow("pid$target:a.out:work:entry, pid$target:a.out:func:entry { @[probemod, probefunc, execname] = count(); }",
                          forks("exec", program("looper"), "1000"), "-Z")
        self.assertEqual(self.rows(out)[1:], [["forks", "work", "forks", "1"], ["looper", "func", "looper", "1000"]])

    def test_libraries_that_a_child_opens(self):
        out = self.follow("pid$target:liblate*:late_function:entry { @[probemod] = count(); }",
                          forks("exec", program("late"), str(program("liblate_library.so")), "7", "3"), "-Z")
        self.assertEqual(self.rows(out)[-1], ["liblate_library.so", "21"])

    def test_tracing_ends_with_the_last_child(self):
        self.assertEqual(self.rows(self.follow(WORK + " { @[arg0] = count(); }", forks("orphan"))), [["0", "1"], ["7", "1"]])

    def test_a_running_process(self):
        target = subprocess.Popen([program("forks"), "4", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(target.communicate)
        self.addCleanup(target.kill)
        self.assertEqual(target.stdout.readline(), "ready\n")
        tracer = dvmtest.start_tracer(self, WORK + " { @ = count(); }", "-x", "followfork", "-xswitchrate=10hz", "-p", str(target.pid))
        target.communicate("\n", timeout=PATIENCE)
        out, err = tracer.communicate(timeout=PATIENCE)
        self.assertEqual((tracer.returncode, out.split(), err), (0, ["15"], ""))

    def test_children_that_do_all_the_work_are_named(self):
        work = "import os, time\nchild = os.fork()\nif child: print(child, flush=True)\nwhile True: time.sleep(0.01), os.getppid() if child else 0"
        server = subprocess.Popen([sys.executable, "-c", work], stdout=subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(server.communicate)
        self.addCleanup(os.killpg, server.pid, signal.SIGKILL)
        child = server.stdout.readline().strip()
        note = f"dvm: nothing was recorded in process {server.pid}, but its child {child} runs the same program: " \
               "trace one by -p, or those that are forked later by -x followfork\n"
        for function, told in (("getpgid", note), ("getppid", "")):
            result = dvm("run", "-q", "-n", f"pid$target:libc:{function}:entry {{ @ = count(); }} tick-300ms {{ exit(0); }}", "-p", str(server.pid))
            self.assertEqual((result.returncode, result.stderr), (0, told))

    def test_each_of_two_processes_has_its_own_children(self):
        targets = [subprocess.Popen([program("forks"), str(n), "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for n in (2, 3)]
        for target in targets:
            self.addCleanup(target.communicate)
            self.addCleanup(target.kill)
            self.assertEqual(target.stdout.readline(), "ready\n")
        first, second = (target.pid for target in targets)
        text = f'pid{first}:forks:work:entry {{ @["first"] = count(); }} pid{second}:forks:work:entry {{ @["second"] = count(); }}'
        tracer = dvmtest.start_tracer(self, text, "-x", "followfork", "-xswitchrate=10hz", "-p", str(first), "-p", str(second))
        for target in targets:
            target.communicate("\n", timeout=PATIENCE)
        out, err = tracer.communicate(timeout=PATIENCE)
        self.assertEqual((self.rows(out), err), ([["first", "6"], ["second", "10"]], ""))

    def test_exit_ends_tracing_before_the_children(self):
        result = dvm("run", "-q", "-x", "followfork", "-n", WORK + " /arg0 == 2/ { exit(7); }", "-c", forks("50"))
        self.assertEqual(result.returncode, 7, result.stderr)

    # Uprobes lie in all processes then, and a uretprobe would end one that throws through the function.
    def test_no_uretprobe_lies_in_other_processes(self):
        target = subprocess.Popen(["sleep", "60"])
        self.addCleanup(target.kill)
        tracer = subprocess.Popen([dvmtest.DVM, "run", "-x", "followfork", "-x", "backend=uprobe", "-n",
                                   "pid$target:libc:qsort_r:return { @ = count(); } BEGIN { printf(\"on\\n\"); }", "-p", str(target.pid)],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(tracer.kill)
        while "on" not in tracer.stdout.readline():
            self.assertIsNone(tracer.poll())
        other = subprocess.run([dvmtest.program("sorts_linked")], capture_output=True, text=True)
        self.assertEqual((other.returncode, other.stdout), (0, "caught 100\n"))
        tracer.send_signal(signal.SIGINT)
        tracer.communicate(timeout=60)

    def test_processes_that_are_not_followed_do_not_fire(self):
        other = subprocess.Popen(["sh", "-c", f"while :; do {program('forks')} 1; done"])
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        self.assertEqual(self.rows(self.follow(WORK + " { @[pid == $target || progenyof($target)] = count(); }", forks("20"))), [["1", "231"]])


if __name__ == "__main__":
    unittest.main()
