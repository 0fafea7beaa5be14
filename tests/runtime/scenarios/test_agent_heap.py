"""Clauses that read memory which the program takes away: each string is right, or a fault, and the program is unharmed."""

import collections
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import dvmtest
from dvmtest import program
from scenarios.test_agent import AgentTest, guards_of

SPAN = os.environ.get("DVM_HEAP_SPAN", "300")  # milliseconds for each way
PATIENCE = 60 + int(SPAN) // 100  # seconds: a loaded machine is slow, not wrong
LIBRARY = str(pathlib.Path(program("snatched")).parent / "libvanishing_library.so")
LATE_LIBRARY = str(pathlib.Path(program("late")).parent / "liblate_library.so")
AS_NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all")
ENTRY, RETURN = "pid$target:a.out:work:entry", "pid$target:a.out:work:return"
ERRORS = ' ERROR { @e = count(); } END { printa("%@d faults\\n", @e); }'
COUNTED = ' END { printa("%@d %s|\\n", @); }' + ERRORS
BY_STRING = ENTRY + " { @[copyinstr(arg0)] = count(); }" + COUNTED
IN_THREAD = "(agent, in the traced thread"


class HeapTest(AgentTest):
    def run_on(self, script, command, *options):
        environment = dict(dvmtest.ENV, LIBRARY=LIBRARY)
        with tempfile.NamedTemporaryFile("r") as output:  # of dvm: in a pipe, lines of the program would come between
            result = dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-x", "ringsize=64m", *options, "-o", output.name, "-n", script, "-c", command,
                                 env=environment, timeout=PATIENCE)
            result.stdout += output.read()
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    @staticmethod
    def seen(result):
        """How often dvm has seen each string, and faults (None)."""
        seen = collections.Counter({text: int(times) for times, text in re.findall(r"(?m)^(\d+) (.*)\|$", result.stdout)})
        seen.update(re.findall(r"(?m)^\|(.*)\|$", result.stdout))
        seen[None] += sum(map(int, re.findall(r"(?m)^(\d+) faults$", result.stdout)))
        return seen


class Vanishing(HeapTest):
    """Memory that is gone at known firings."""

    @staticmethod
    def passed(result):
        passed = collections.Counter({text: int(times) for times, text in re.findall(r"(?m)^= (\d+) (.*)\|$", result.stdout)})
        passed[None] += int(re.search(r"(?m)^= (\d+) faults$", result.stdout)[1])
        return passed

    def check(self, script, command, is_in_thread=True):
        with self.subTest(script, command=command):
            result = self.run_on(script, command)
            self.assertEqual(self.seen(result), self.passed(result), result.stderr)
            self.assertNotIn("removed", result.stderr)
            if is_in_thread:
                self.assertIn(IN_THREAD, result.stderr)

    def test_all_strings_and_faults_are_seen(self):
        self.check(BY_STRING, program("vanishing"))
        self.check(f"{ENTRY} {{ self->t = copyinstr(arg0); }} {RETURN} /self->t != NULL/ {{ @[self->t] = count(); self->t = NULL; }}" + COUNTED, program("vanishing"))
        self.check(ENTRY + ' { printf("|%s|\\n", copyinstr(arg0)); }' + ERRORS, program("vanishing"), False)

    def test_in_a_library_that_is_closed(self):
        self.check(BY_STRING, program("vanishing") + " unload unmap")

    def test_by_calls_that_no_file_has(self):
        for way in ("copied", "keyed", "lent", "implied"):
            self.check(BY_STRING, f"{program('vanishing')} unmap {way} protect")

    def test_where_a_probe_lies_at_a_call(self):
        """Its clauses must not run without the rest of the agent."""
        self.check(BY_STRING + " pid$target:libc.so.6:brk:entry { @n = count(); }", program("vanishing") + " break")

    def test_by_calls_of_the_program_itself(self):
        self.check(BY_STRING, program("vanishing_own") + " own unmap")


class Said(HeapTest):
    """Why memory is read by system calls."""

    WHY = "; heap memory is read by system calls: vanishing_own makes system call"

    def test_of_clauses_that_read_some(self):
        in_dvm = ENTRY + " { s[0] = copyinstr(arg0); }"
        for script, place in ((BY_STRING, "engine site code"), (in_dvm, "not in the traced thread: .*")):
            self.assertRegex(self.run_on(script, program("vanishing_own") + " own").stderr, f"{place}{self.WHY}")
        for script, name in ((BY_STRING, "vanishing"), (ENTRY + " { @ = count(); }", "vanishing_own")):
            self.assertNotIn("by system calls", self.run_on(script, program(name) + " unmap").stderr)

    def test_at_the_end(self):
        """Calls while it is traced."""
        for way, why in (("copied", "it executes code that is not mapped from a file"), ("keyed", "it has called pkey_mprotect"), ("lent", "it has called shmat with SHM_EXEC")):
            with self.subTest(way):
                self.assertRegex(self.run_on(BY_STRING, program("vanishing") + f" {way} unmap").stderr, rf"(?m)^dvm: process \d+: memory was read by system calls from some time on: {why}$")
        self.assertNotIn("from some time on", self.run_on(BY_STRING, program("vanishing") + " unmap").stderr)

    def test_before_tracing(self):
        listed = dvmtest.dvm("list", "-v", "-x", "backend=agent", "-n", BY_STRING, "-c", program("vanishing_own") + " own")
        self.assertIn("engine site code" + self.WHY, listed.stdout)


class Late(HeapTest):
    """Clauses that read memory first come with a library that a program opens while it is traced: plain loads, no system calls."""

    READS = " pid$target:liblate*:late_function:entry { @[copyinstr(arg0)] = count(); }"
    OPENS = "./late ./liblate_library.so text"

    def test_of_the_program(self):
        self.check(self.READS, self.OPENS)

    def test_of_one_that_it_executes(self):
        """Clauses of the first program have read memory, too."""
        self.check("pid$target:libc.so.6:execv:entry { @x[copyinstr(arg0)] = count(); }" + self.READS, "./late exec " + self.OPENS)

    def check(self, script, command):
        if dvmtest.missing_privilege() or os.geteuid() != 0 or not shutil.which("setpriv"):
            dvmtest.skip_or_fail(self, "needs root, to become a user and to count system calls")
        folder = dvmtest.own_folder(self)
        os.chmod(folder, 0o755)
        dvmtest.copy_of_dvm(folder)
        for file in (program("late"), LATE_LIBRARY):
            shutil.copy(file, folder)
        tracer = subprocess.Popen([*AS_NOBODY, "./dvm", "run", "-qv", "-Z", "-n", 'BEGIN { printf("%d\\n", $target); } ' + script, "-c", command],
                                  cwd=folder, env=dvmtest.ENV, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(tracer.communicate)
        self.addCleanup(tracer.kill)
        target = next(line for line in map(str.strip, tracer.stdout) if line.isdigit())
        count = f'syscall::process_vm_readv:entry /pid == {target}/ {{ n++; }} tick-1s {{ printf("%d\\n", n); exit(0); }}'
        self.assertTrue(dvmtest.eventually(lambda: int(dvmtest.dvm("run", "-q", "-n", count).stdout) < 10))
        tracer.send_signal(signal.SIGINT)
        out, err = tracer.communicate(timeout=PATIENCE)
        self.assertRegex(out, r"(?m)^  on the heap +[1-9]\d\d")
        self.assertNotIn("by system calls", err)


class Snatched(HeapTest):
    """Memory that other threads take away meanwhile."""

    WAYS = ("unmap", "protect", "move", "cover", "discard", "break", "free", "resize", "load", "threads", "signals", "leaps", "tasks", "shares", "bare", "filtered")

    def check(self, way, *options, name="snatched"):
        with self.subTest(way, options=options):
            result = self.run_on(BY_STRING, f"{program(name)} {way} {SPAN}", *options)
            self.assertIn(IN_THREAD, result.stderr)
            seen = self.seen(result)
            self.assertEqual([text for text in seen if text is not None and not re.fullmatch(r"|s?l?ot \d\d|y+", text)], [])
            drops = re.findall(r"in all (\d+) drops", result.stderr) or re.findall(r"(\d+) drops? on", result.stderr)
            return sum(seen.values()) + sum(map(int, drops)), result

    def calls(self, result):
        """All that have begun, and those that were not ended."""
        return tuple(map(int, re.search(r"(?m)^= calls (\d+), left (\d+)$", result.stdout).groups()))

    def test_each_firing_has_a_string_or_a_fault(self):
        for way, name in *((way, "snatched") for way in self.WAYS), ("own", "snatched_own"):
            seen, result = self.check(way, name=name)
            calls, left = self.calls(result)
            self.assertIn(seen, range(calls - left, calls + 1), way)

    def test_children_that_are_followed_or_not(self):
        for options in ((), ("-x", "followfork")):
            seen, result = self.check("forks", *options)
            calls, _ = self.calls(result)
            self.assertEqual(seen, calls if options else 0)


class Tracers(HeapTest):
    """Others that come and go meanwhile."""

    def start(self, way="unmap"):
        target = subprocess.Popen([program("snatched"), way, "100000"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(target.communicate)
        self.addCleanup(target.kill)
        return target

    def trace(self, target, script=BY_STRING):
        return dvmtest.start_tracer(self, script, "-x", "backend=agent", "-p", str(target.pid))

    def finish(self, target, after=0.0):
        time.sleep(after)
        target.terminate()
        self.assertRegex(target.communicate(timeout=PATIENCE)[0], r"^= calls \d+, left \d+\n$")
        self.assertEqual(target.returncode, 0)

    def test_dvm_comes_and_goes(self):
        target = self.start()
        for _ in range(int(os.environ.get("DVM_HEAP_CYCLES", "4"))):
            tracer = self.trace(target)
            time.sleep(0.2)
            tracer.send_signal(signal.SIGINT)
            tracer.communicate(timeout=PATIENCE)
            self.assertEqual(tracer.returncode, 0)
        self.finish(target)

    def test_dvm_comes_while_threads_begin(self):
        """Some have not registered their areas for restartable sequences yet."""
        target = self.start("threads")
        for _ in range(6):
            result = dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-n", BY_STRING + " tick-100ms { exit(0); }", "-p", str(target.pid))
            self.assertIn(IN_THREAD, result.stderr)
            self.assertNotIn("by system calls", result.stderr)
        self.finish(target)

    def test_dvm_is_killed(self):
        for also_guard in (False, True):
            with self.subTest(also_guard=also_guard):
                target = self.start()
                tracer = self.trace(target)
                time.sleep(0.5)
                for guard in guards_of(target.pid) * also_guard:
                    os.kill(guard, signal.SIGKILL)
                tracer.kill()
                self.finish(target, 0.5)

    def test_of_two_dvms(self):
        target = self.start()
        self.trace(target)
        self.trace(target, "pid$target:a.out:pass:entry { @n = count(); } pid$target:a.out:work:return { @[copyinstr(arg1)] = count(); } ERROR { @e = count(); }")
        self.finish(target, 0.5)

    def test_debuggers(self):
        for command in (("gdb", "-batch", "-ex", "break snatch", "-ex", "continue", "-ex", "delete", "-ex", "stepi 300", "-ex", "thread apply all bt 3", "-ex", "detach", "-p"),
                        ("strace", "-f", "-e", "trace=munmap", "-o", "/dev/null", "-p")):
            with self.subTest(command[0]):
                if not shutil.which(command[0]):
                    self.skipTest(f"needs {command[0]}")
                target = self.start()
                self.trace(target)
                tool = subprocess.Popen([*command, str(target.pid)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                self.addCleanup(tool.communicate)
                self.addCleanup(tool.kill)
                self.finish(target, 1.5)


if __name__ == "__main__":
    unittest.main()
