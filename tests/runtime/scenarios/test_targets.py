"""Several processes at once, processes of other mount namespaces, and processes that vanish."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import unittest

import dvmtest
from dvmtest import ROOT, dvm, program

PATIENCE = 60


class Waiting:
    """A program that waits for a line."""

    def __init__(self, *words, **options):
        self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options)
        assert self.process.stdout.readline() == "ready\n"
        self.pid = self.process.pid

    def end(self):
        self.process.kill()
        self.process.communicate()

    def go(self):
        self.process.communicate("\n", timeout=PATIENCE)


class Targets(dvmtest.PrivilegedTest):
    def trace(self, text, *options):
        """dvm once its probes are on."""
        return dvmtest.start_tracer(self, text, "-xswitchrate=10hz", *options)

    def finish(self, tracer):
        out, err = tracer.communicate(timeout=PATIENCE)
        self.assertEqual(tracer.returncode, 0, err)
        return out

    def waiting(self, *words, **options):
        target = Waiting(*words, **options)
        self.addCleanup(target.end)
        return target

    def test_several_processes_until_the_last_has_ended(self):
        first, second = (self.waiting(program("looper"), str(calls), "wait") for calls in (1000, 2000))
        tracer = self.trace(f"pid{first.pid}:looper:func:entry {{ @[pid == $target] = count(); }} pid{second.pid}:looper:func:entry {{ @[pid == $target] = count(); }}",
                            "-p", str(first.pid), "-p", str(second.pid))
        first.go()
        self.assertIsNone(tracer.poll())
        second.go()
        self.assertEqual(self.finish(tracer).split(), ["1", "1000", "0", "2000"])

    def test_a_running_process_beside_one_that_is_started(self):
        running = self.waiting(program("looper"), "1000", "wait")
        tracer = self.trace(f"pid{running.pid}:looper:func:entry {{ @ = count(); }}", "-p", str(running.pid), "-c", "/bin/true")
        running.go()
        self.assertRegex(self.finish(tracer), r"\n +1000\n")

    def test_begin_is_the_first_probe_that_fires(self):
        """Of a program that calls the function all the time, also in a recording."""
        running = subprocess.Popen([program("looper"), "4000000000"], stdout=subprocess.DEVNULL)
        self.addCleanup(running.wait)
        self.addCleanup(running.kill)
        text = ('BEGIN { began = timestamp; } pid$target:looper:func:entry /!seen/ { seen = 1; printf("%d\\n", timestamp > began); } '
                "tick-100ms /seen/ { exit(0); }")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "looper.dvm")
            for words in (["run"], ["record", "-o", path]):
                result = dvm(*words, "-q", "-n", text, "-p", str(running.pid))
                self.assertEqual(result.stdout.split(), ["1"], result.stderr)
            self.assertEqual(dvm("replay", "-q", path, "-n", text).stdout.split(), ["1"])

    def test_of_several_one_vanishes(self):
        first, second = (self.waiting(program("looper"), "1000", "wait") for _ in range(2))
        tracer = self.trace(f"pid{first.pid}:looper:func:entry, pid{second.pid}:looper:func:entry {{ @ = count(); }}", "-p", str(first.pid), "-p", str(second.pid))
        first.process.kill()
        first.process.wait()
        second.go()
        self.assertEqual(self.finish(tracer).split(), ["1000"])

    def test_a_program_that_is_started_by_a_link(self):
        """Its module is what the user calls it, and the file's own name does too."""
        with tempfile.TemporaryDirectory() as folder:
            link = os.path.join(folder, "served")
            os.symlink(program("looper"), link)
            for module in ("served", "looper", "a.out"):
                result = dvm("run", "-q", "-n", f"pid$target:{module}:func:entry {{ @[probemod] = count(); }}", "-c", f"{link} 100")
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertRegex(result.stdout, r"(?m)^ +served +100$")

    def test_a_process_that_is_not_there(self):
        gone = subprocess.Popen(["true"])
        gone.wait()
        result = dvm("run", "-n", "pid$target:::entry { }", "-p", str(gone.pid))
        self.assertEqual(result.returncode, 1)
        self.assertIn("No such process", result.stderr)
        self.assertIn(f"process {gone.pid} has exited", result.stderr)

    def test_others_that_end_while_probes_are_being_enabled_go_unmentioned(self):
        """The description names no process. Some end at any time, one lasts."""
        self.waiting(program("markers_O0"), "1", "wait")
        is_over = threading.Event()

        def come_and_go():
            alive = []
            while not is_over.is_set():
                alive.append(Waiting(program("markers_O0"), "1", "wait"))
                if len(alive) > 10:
                    alive.pop(0).end()
            for one in alive:
                one.end()

        others = threading.Thread(target=come_and_go)
        others.start()
        try:
            for options in ((), (), ("-xfollowfork",)):
                result = dvm("run", "-q", *options, "-n", "dvmtest*:::round-begin { } tick-1ms { exit(0); }")
                self.assertEqual((result.returncode, dvmtest.without_neighbours(result.stderr)), (0, ""))
        finally:
            is_over.set()
            others.join()

    def test_the_only_one_that_ends_while_probes_are_being_enabled(self):
        """dvm has found its probes, and goes no further until its listing of the code has been read."""
        with tempfile.TemporaryDirectory() as folder:
            only = shutil.copy(program("markers_O0"), os.path.join(folder, "dvm_the_only_one"))
            target = self.waiting(only, "1", "wait")
            text = "dvmtest*:dvm_the_only_one::round-begin { " + "trace(1); " * 300 + "} tick-60s { exit(0); }"
            tracer = subprocess.Popen([dvmtest.DVM, "run", "-S", "-n", text], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, bufsize=0,
                                      pipesize=4096, env=dvmtest.ENV)
            self.addCleanup(tracer.communicate)
            self.addCleanup(tracer.kill)
            begin = tracer.stderr.read(1)
            target.end()
            err = (begin + tracer.communicate(timeout=PATIENCE)[1]).decode()
        self.assertEqual(tracer.returncode, 1, err[-1000:])
        self.assertRegex(err, rf"could not enable tracing: \d+ probes? left out, dvmtest{target.pid}:.*: its process has ended\n$")

    def test_programs_of_another_mount_namespace(self):
        if not shutil.which("unshare") or subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0:
            dvmtest.skip_or_fail(self, "mount namespaces cannot be made here")
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("looper", "pid{}:a.out:func:entry {{ @ = count(); }}"), ("markers_O0", "dvmtest{}:a.out::round-begin {{ @ = count(); }}")):
                if not os.path.exists(program(name)):
                    continue
                with self.subTest(name):
                    script = f"mount -t tmpfs none {folder} && cp {program(name)} {folder}/hidden && exec {folder}/hidden 100 wait"
                    target = self.waiting("unshare", "--mount", "sh", "-c", script)
                    self.assertEqual(os.listdir(folder), [])
                    tracer = self.trace(text.format(target.pid), "-p", str(target.pid))
                    target.go()
                    self.assertEqual(self.finish(tracer).split(), ["100"])

    def test_two_programs_with_the_same_path(self):
        """One lies in a mount namespace. It has ended when dvm prints, and nothing else leads to its file."""
        with tempfile.TemporaryDirectory() as folder:
            path = shutil.copy(program("looper"), os.path.join(folder, "same"))
            script = f"mount -t tmpfs none {folder} && cp {program('leaves')} {path} && exec {path} 10"
            apart, here = self.waiting("unshare", "--mount", "sh", "-c", script), self.waiting(path, "10", "wait")
            text = f"pid{here.pid}:same:func:entry, pid{apart.pid}:same:recurs:entry {{ @[usym(ucaller), ufunc(uregs[R_RIP])] = count(); }}"
            tracer = self.trace(text, "-p", str(here.pid), "-p", str(apart.pid))
            here.go()
            apart.go()
            rows = sorted(line.split() for line in self.finish(tracer).splitlines() if line)
        self.assertIn(["same`main", "same`func", "10"], rows)
        self.assertIn("same`recurs", [row[1] for row in rows])

    def test_a_process_of_another_pid_namespace(self):
        """It has two numbers: the one that dvm knows it by is what scripts see."""
        if not shutil.which("unshare") or subprocess.run(["unshare", "--pid", "--fork", "true"], capture_output=True).returncode != 0:
            dvmtest.skip_or_fail(self, "pid namespaces cannot be made here")
        outer = self.waiting("unshare", "--pid", "--fork", "--kill-child", program("looper"), "1000", "wait")
        inner = int(pathlib.Path(f"/proc/{outer.pid}/task/{outer.pid}/children").read_text())
        tracer = self.trace("pid$target:looper:func:entry { @[pid == $target, execname, ustackdepth > 1] = count(); }", "-p", str(inner))
        outer.go()
        self.assertEqual(self.finish(tracer).split(), ["1", "looper", "1", "1000"])

    def test_a_program_that_runs_as_another_user(self):
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            path = shutil.copy(program("looper"), folder)
            os.chown(path, 65534, -1)
            os.chmod(path, 0o4755)
            if os.statvfs(folder).f_flag & os.ST_NOSUID:
                dvmtest.skip_or_fail(self, f"programs in {folder} do not change their user (mount option nosuid)")
            result = dvm("run", "-q", "-n", "pid$target:looper:func:entry { @[uid, curpsinfo->pr_euid] = count(); }", "-c", f"{path} 100")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"(?m)^ +0 +65534 +100$")

    def test_the_exceptions_of_a_program(self):
        library = str(pathlib.Path(program("torture")).parent / "liblate_library.so")
        target = self.waiting(program("torture"), library)
        result = dvm("run", "-s", str(ROOT / "examples/exceptions.d"), "-n", "libstdcxx$target:::throw { thrown++; } "
                     "libstdcxx$target:::throw /thrown == 50/ { exit(0); }", "-p", str(target.pid))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"St13runtime_error +[1-9]")


if __name__ == "__main__":
    unittest.main()
