"""Processes: attaching to a running one, starting one, the ends of both, and the promise that the traced process always survives."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import dvmtest
from dvmtest import DVM, ENV, dvm, program


def function_bytes(pid, path, name, size=16):
    """The first bytes of a function as they stand in the process's memory."""
    symbols = subprocess.run(["readelf", "-sW", path], capture_output=True, text=True, check=True).stdout
    value = int(re.search(rf"^ *\d+: ([0-9a-f]+) +\d+ FUNC .* {name}$", symbols, re.M).group(1), 16)
    with open(f"/proc/{pid}/maps") as maps:
        base = next(int(line.split("-")[0], 16) for line in maps if path in line)
    with open(f"/proc/{pid}/mem", "rb") as memory:
        memory.seek(base + value)
        return memory.read(size)


class Running(dvmtest.PrivilegedTest):
    """A looper that waits for a line before it calls func()."""

    def setUp(self):
        super().setUp()
        self.target = subprocess.Popen([program("looper"), "20000", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.assertEqual(self.target.stdout.readline(), "ready\n")

    def tearDown(self):
        if hasattr(self, "target"):
            self.target.kill()
            self.target.wait()
            self.target.stdin.close()
            self.target.stdout.close()

    def attach(self, text):
        """Starts dvm on the target and returns once its probes are live: BEGIN has printed."""
        return dvmtest.start_tracer(self, text, "-xswitchrate=10hz", "-p", str(self.target.pid))

    def go(self):
        self.target.stdin.write("\n")
        self.target.stdin.flush()

    def test_attach_to_a_running_process_and_see_it_end(self):
        tracer = self.attach("pid$target:looper:func:entry { @ = count(); }")
        self.go()
        out, err = tracer.communicate(timeout=120)
        self.assertEqual(tracer.returncode, 0, err)
        self.assertRegex(out, r"\n +20000\n")

    def end_of_the_process(self, end):
        tracer = subprocess.Popen([DVM, "run", "-xswitchrate=10hz", "-n", 'BEGIN { trace("live"); } pid$target:looper:func:entry { @ = count(); }',
                                   "-p", str(self.target.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENV)
        self.assertIn("FUNCTION:NAME", tracer.stdout.readline())
        self.assertIn("live", tracer.stdout.readline())
        end()
        out, err = tracer.communicate(timeout=120)
        self.assertEqual(tracer.returncode, 0, err)
        return err

    def test_the_end_of_the_process_is_noticed(self):
        self.assertIn(f"dvm: pid {self.target.pid} has exited\n", self.end_of_the_process(self.go))

    def test_the_signal_that_ended_the_process_is_named(self):  # nobody has waited for it yet
        self.assertIn(f"dvm: pid {self.target.pid} terminated by SIGKILL\n", self.end_of_the_process(self.target.kill))

    def test_interrupt_prints_aggregations_and_detaches(self):
        before = function_bytes(self.target.pid, program("looper"), "func")
        tracer = self.attach("pid$target:looper:main:return { @left = count(); } BEGIN { @ = count(); }")
        tracer.send_signal(signal.SIGINT)
        out, err = tracer.communicate(timeout=120)
        self.assertEqual(tracer.returncode, 0, err)
        self.assertRegex(out, r" 1\n")
        self.assertEqual(function_bytes(self.target.pid, program("looper"), "func"), before)
        self.go()
        self.assertEqual(self.target.wait(timeout=120), 0)

    def test_sigkill_leaves_the_target_whole(self):
        before = function_bytes(self.target.pid, program("looper"), "func")
        tracer = self.attach("pid$target:looper:func:entry { @ = count(); }")
        self.assertNotEqual(function_bytes(self.target.pid, program("looper"), "func"), before, "nothing was patched")
        tracer.kill()
        tracer.communicate()
        for _ in range(2400):  # the kernel takes its probes away when it comes to it
            if function_bytes(self.target.pid, program("looper"), "func") == before:
                break
            time.sleep(0.05)
        self.assertEqual(function_bytes(self.target.pid, program("looper"), "func"), before)
        self.go()
        self.assertEqual(self.target.wait(timeout=120), 0)

    def test_target_killed_while_traced(self):
        tracer = self.attach("pid$target:looper:func:entry { @ = count(); } END { trace(\"end\"); }")
        self.target.kill()
        out, err = tracer.communicate(timeout=120)
        self.assertEqual(tracer.returncode, 0, err)
        self.assertIn("end", out)


class Started(dvmtest.PrivilegedTest):
    def test_traces_from_the_first_instruction_of_main(self):
        result = dvm("run", "-n", 'pid$target:looper:main:entry { printf("argc %d", arg0); }', "-c", program("looper") + " 3")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"main:entry argc 2")
        self.assertEqual(re.findall(r"dvm: pid .*", result.stderr), [])

    def test_evaltime_says_when_probes_are_placed(self):
        clause = "pid$target:starts:early:entry, pid$target:starts:usual:entry { trace(probefunc); }"
        for when, seen in (("exec", ["early", "usual"]), ("preinit", ["early", "usual"]), ("postinit", ["usual"]), ("main", ["usual"])):
            result = dvm("run", "-q", "-x", "evaltime=" + when, "-n", clause, "-c", program("starts"))
            self.assertEqual((result.returncode, re.findall(r"early|usual", result.stdout)), (0, seen), when + result.stderr)

    def test_constructors_of_libraries_are_traced(self):
        source = 'void first(void) { __asm__(""); } __attribute__((constructor)) static void load(void) { first(); }'
        clause = "pid$target:libfirst.so:first:entry, pid$target:starts:early:entry, pid$target:starts:usual:entry { trace(probefunc); }"
        with tempfile.TemporaryDirectory() as folder:
            library = folder + "/libfirst.so"
            subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=source, text=True, check=True)
            for backend in ("uprobe", "agent", "breakpoint"):
                for options, seen in ([], ["first", "early", "usual"]), (["-x", "evaltime=main"], ["usual"]):
                    result = dvm("run", "-q", *options, "-x", "backend=" + backend, "-x", "setenv=LD_PRELOAD=" + library, "-n", clause, "-c", program("starts"))
                    self.assertEqual((result.returncode, re.findall(r"first|early|usual", result.stdout)), (0, seen), backend + result.stderr)

    def test_a_program_starts_while_its_linker_is_traced(self):
        """The linker is a copy: an agent of another test may have replaced code of the usual one, where uprobes that follow forks are refused then."""
        folder = dvmtest.own_folder(self)
        linker = shutil.copy("/lib64/ld-linux-x86-64.so.2", folder)
        subprocess.run(["cc", "-O1", f"-Wl,--dynamic-linker={linker}", dvmtest.ROOT / "tests/programs/starts.c", "-o", folder / "starts"], check=True)
        sleeper = subprocess.Popen([linker, "/bin/sleep", "60"])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)
        followed = dvmtest.start_tracer(self, "pid$target:ld*:_dl_debug_state:entry { }", "-x", "followfork", "-x", "backend=uprobe", "-p", str(sleeper.pid))
        for _ in range(3):
            result = dvm("run", "-q", "-n", "pid$target:starts:usual:entry { trace(probefunc); }", "-c", str(folder / "starts"))
            self.assertEqual((result.returncode, re.findall("usual", result.stdout)), (0, ["usual"]), result.stderr)
        self.assertIsNone(followed.poll())

    def test_valgrind_is_refused(self):
        """It would execute copies of the probes. Its tools are known by the folder of their file; it may be started by a script."""
        folder = dvmtest.own_folder(self) / "valgrind"
        folder.mkdir()
        tool = shutil.copy(program("looper"), folder / "memcheck-amd64-linux")
        script = folder / "valgrind"
        script.write_text(f'#!/bin/sh -e\nexec {tool} "$@"\n')
        script.chmod(0o755)
        for command in tool, script:
            result = dvm("run", "-n", "pid$target:a.out:main:entry { }", "-c", f"{command} 3")
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, r"failed to grab process \d+: valgrind executes copies of its code, where a probe would end it")
        result = dvm("run", "-q", "-Z", "-n", "pid$target:a.out:main:entry { }", "-c", f"{tool} 3")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"process \d+ has no probes: valgrind executes")

    def test_main_of_a_stripped_program_is_found(self):
        result = dvm("run", "-q", "-x", "evaltime=main", "-n", "BEGIN { trace(1); }", "-c", "/bin/true")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_how_the_process_ended_is_said(self):
        for command, says in (("exit 3", "exited with status 3"), ("kill -SEGV $$", "terminated by SIGSEGV")):
            result = dvm("run", "-n", "BEGIN { trace(1); }", "-c", f"/bin/sh -c '{command}'")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(result.stderr, rf"dvm: pid \d+ {says}\n")

    def test_exit_in_a_clause_is_the_exit_status(self):
        result = dvm("run", "-q", "-n", "pid$target:looper:func:entry { exit(3); }", "-c", program("looper") + " 100000")
        self.assertEqual(result.returncode, 3, result.stderr)

    def test_several_modules_by_glob(self):
        result = dvm("run", "-q", "-n", "pid$target:libc*:getpid:entry, pid$target:a.out:Py_BytesMain:entry { @[probemod, probefunc] = count(); }",
                     "-c", "/usr/bin/python3 -c 'import os; os.getpid()'")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"libc\.so\.6 +getpid +\d+")

    def test_a_reader_that_goes_away_ends_tracing_and_the_process(self):
        tracer = subprocess.Popen([DVM, "run", "-q", "-xswitchrate=100hz", "-n", 'tick-10ms { printf("%d\\n", $target); }', "-c", "sleep 60"],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENV)
        child = int(tracer.stdout.readline())
        tracer.stdout.close()
        self.assertIn("dvm: could not write the output: Broken pipe", tracer.stderr.read())
        self.assertEqual(tracer.wait(timeout=120), 1)
        self.assertFalse(os.path.exists(f"/proc/{child}"))
        tracer.stderr.close()

    def test_the_process_inherits_nothing_but_the_standard_files(self):
        def files(*options):
            return dvm("run", "-q", *options, "-n", "BEGIN { }", "-c", "ls /proc/self/fd").stdout.split()

        self.assertEqual(files("-o", "/dev/null"), files())

    def test_the_environment_is_as_the_options_say(self):
        options = ["-x", "setenv=DVM_A=1=2", "-x", "setenv=DVM_B=", "-x", "unsetenv=TZ", "-x", "unsetenv=DVM_NONE"]
        given = dvm("run", "-q", *options, "-n", "BEGIN { }", "-c", "env").stdout.split("\n")
        self.assertEqual([line for line in given if line.startswith(("DVM_A", "DVM_B", "TZ="))], ["DVM_A=1=2", "DVM_B="])
        self.assertIn("LC_ALL=C", given)
        plain = dvm("run", "-q", "-n", "BEGIN { }", "-c", "env").stdout.split("\n")
        self.assertIn("TZ=UTC", plain)

    def test_output_file_is_appended_to(self):
        path = f"/tmp/dvm-output-{os.getpid()}"
        try:
            for _ in range(2):
                result = dvm("run", "-q", "-o", path, "-n", 'BEGIN { printf("line\\n"); exit(0); }')
                self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
            with open(path) as file:
                self.assertEqual(file.read().count("line\n"), 2)
        finally:
            os.unlink(path)


if __name__ == "__main__":
    unittest.main()
