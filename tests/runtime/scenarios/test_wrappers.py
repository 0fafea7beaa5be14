"""Programs behind wrappers, which execute them in their place, traced by an agent without privileges: the probes are on before the program runs."""

import os
import pathlib
import re
import select
import shlex
import shutil
import signal
import subprocess
import sys
import time
import unittest

import dvmtest
from dvmtest import ENV, program

NOBODY = 65534
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all")
PATIENCE = 60
COUNT = "pid$target:looper:func:entry { @ = count(); }"
THREAD = "import os, threading; threading.Thread(target=lambda: os.execv('./looper', ['looper', '300'])).start()"


BLOCKED = """import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGURG])
os.execv(sys.argv[1], sys.argv[1:])"""
STORM = """import os, signal, time
signal.signal(signal.SIGWINCH, lambda *_: None)
me = os.getpid()
if os.fork() == 0:
  try:
    while True: os.kill(me, signal.SIGWINCH); time.sleep(0.0001)
  except OSError: os._exit(0)
os.execv("./looper", ["looper", "300"])"""
IGNORED = """import os, signal, time
me = os.getpid()
if os.fork() == 0:
  end = time.monotonic() + 1
  try:
    while time.monotonic() < end: os.kill(me, signal.SIGWINCH); time.sleep(0.001)
  finally: os._exit(0)
os.execve("./looper", ["looper", "300"], {"LD_PRELOAD": "./libwaiting_library.so"})"""
FAILED = """import os, time
print(flush=True)
input()
try: os.execv("./nothing", ["nothing"])
except OSError: print("failed", flush=True)
end = time.monotonic() + 2
while time.monotonic() < end: os.getppid()"""
LEFT = """import ctypes, os, sys, time
libc = ctypes.CDLL(None)
os.getppid()
print("once", flush=True)
libc.mlockall(3)
print("locked", flush=True)
library = ctypes.CDLL(sys.argv[1])
time.sleep(0.3)
library.late_function(1)
print("called,", open("/proc/self/maps").read().count("memfd:dvm-agent"), "mappings", flush=True)"""
LEAVING = """import ctypes, os, sys
os.chroot(sys.argv[1])
os.setgroups([])
os.setresgid(65534, 65534, 65534)
os.setresuid(65534, 65534, 65534)
ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
print(flush=True)
os.read(0, 1)
os.execv(sys.argv[2], sys.argv[2:])"""
ENDLESS = """import os, time
end = time.monotonic() + 60
while time.monotonic() < end:
  try: os.execv("./nothing", ["nothing"])
  except OSError: pass"""


def python_for_users():
    """One that lies in a folder which users may look into."""
    return next(path for path in (sys.executable, "/usr/bin/python3") if subprocess.run([*AS_NOBODY, "env", path, "-c", ""], stderr=subprocess.DEVNULL).returncode == 0)


class Wrappers(unittest.TestCase):
    def setUp(self):
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            dvmtest.skip_or_fail(self, "needs root, to become a user")
        self.folder = dvmtest.own_folder(self)
        os.chmod(self.folder, 0o755)
        dvmtest.copy_of_dvm(self.folder)
        for file in (program("looper"), program("renewed"), program("retrying"), program("tracing_privilege")):
            shutil.copy(file, self.folder)
        if dvmtest.privilege_missing_for("breakpoints", AS_NOBODY, self.folder / "tracing_privilege"):
            dvmtest.skip_or_fail(self, "users may not have breakpoints")

    def run_as_user(self, script, command, *options):
        return subprocess.run([*AS_NOBODY, "./dvm", "run", "-q", "-Z", *options, "-n", script, "-c", command], capture_output=True, text=True,
                              cwd=self.folder, env=ENV, timeout=300)

    def run_held(self, run):
        """The result of a run. On a busy machine a program may run before dvm holds it, as dvm says; then it is run again. Likewise if a neighbour's
        uprobes lie in the linker."""
        for _ in range(5):
            result = run()
            if "could not be held" not in result.stderr and "another tracer has changed it" not in result.stderr:
                break
        return result

    def test_each_call_of_the_program_is_counted(self):
        python = python_for_users()
        for command in ("sh -c 'exec ./looper 300'", "env A=b ./looper 300", "nice -n 1 env sh -c 'exec ./looper 300'",
                        "env /lib64/ld-linux-x86-64.so.2 ./looper 300",
                        f"{python} -c \"import os; os.execvp('./looper', ['looper', '300'])\"", f"{python} -c \"{THREAD}\""):
            with self.subTest(command):
                result = self.run_as_user(COUNT, command)
                self.assertEqual((result.returncode, result.stdout.split()[-1], result.stderr), (0, "300", ""))

    def test_a_program_that_is_looked_for_in_several_folders(self):
        result = self.run_as_user(COUNT, f"env PATH=/nowhere:/usr/bin:{self.folder} looper 300")
        self.assertEqual((result.returncode, result.stdout.split()[-1], result.stderr), (0, "300", ""))

    def test_the_second_try_of_a_program_that_waits_longer_than_it_runs(self):
        """dvm stands still meanwhile. It waits for half a second at most; after that the thread waits for it."""
        for wait in (100, 700):
            with self.subTest(wait):
                result = self.run_as_user(COUNT, f"./retrying {wait} call ./looper 300")
                self.assertEqual((result.stdout.split()[-1], result.stderr), ("300", ""))

    def test_a_program_that_ended_unseen_after_a_try_that_failed(self):
        """A system call instruction of the wrapper's own executes it, while dvm is stopped."""
        for how in ("700 syscall", "1100 late"):  # while dvm holds the wrapper, and after it has let it go
            with self.subTest(how):
                result = self.run_as_user(COUNT, f"./retrying {how} ./looper 300")
                self.assertIn("has ended after it was about to execute a program, which could not be held", result.stderr)

    def test_the_next_program_is_held_after_one_that_was_not(self):
        """The wrapper's own system call instruction executes the first one, while dvm is stopped. Each executes the next at once."""
        for _ in range(5):  # on a busy machine, dvm may be too late for the next one, too
            result = self.run_as_user("pid$target:renewed:func:entry { @ = count(); exit(0); }", "./retrying 700 syscall ./renewed exec 5000")
            if result.stdout.split()[-1:] == ["1"]:
                break
        self.assertEqual(result.stdout.split()[-1:], ["1"], result.stderr)
        self.assertRegex(result.stderr, "has executed a program that could not be held|was about to execute a program, which could not be held")

    def test_one_that_is_not_found(self):
        result = self.run_as_user(COUNT, "sh -c 'exec ./nothing'")
        self.assertIn("not found", result.stderr)

    def test_a_program_that_executes_itself(self):
        result = self.run_held(lambda: self.run_as_user("pid$target:renewed:func:entry { @[arg0] = count(); }", "./renewed exec 20"))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(re.findall(r"(\d+) +(\d+)", result.stdout), [(str(n), str(n + 1)) for n in range(21)])

    def test_the_next_program_goes_on_with_global_variables(self):
        script = "pid$target:renewed:func:entry { n++; total += arg0; last = arg0 + 5; } pid$target:renewed:func:return { @ = sum(last); } END { printf(\"%d %d %d\", n, total, last); }"
        result = self.run_held(lambda: self.run_as_user(script, "./renewed exec 20", "-v"))
        self.assertIn("(agent, in the traced thread)", result.stderr)
        calls = [(n, n + 1) for n in range(21)]
        self.assertEqual([int(number) for number in re.findall(r"\d+", result.stdout)], [sum(count for _, count in calls), sum(n * count for n, count in calls), 5, sum((n + 5) * count for n, count in calls)])

    def test_dvm_keeps_nothing_of_programs_that_were_left(self):
        """Each needs three file descriptors while it runs."""
        command = [*AS_NOBODY, "prlimit", "--nofile=80", "./dvm", "run", "-q", "-n", "pid$target:renewed:func:entry { @[arg0] = count(); }", "-c", "./renewed exec 100"]
        result = self.run_held(lambda: subprocess.run(command, capture_output=True, text=True, cwd=self.folder, env=ENV, timeout=300))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(re.findall(r"(\d+) +(\d+)", result.stdout), [(str(n), str(n + 1)) for n in range(101)])

    def test_a_program_gains_the_rights_that_its_file_gives(self):
        os.chmod(shutil.copy("/usr/bin/id", self.folder), 0o4755)
        for path in ("./id", "/proc/self/cwd/id"):
            result = self.run_as_user("pid$target:libc.so.6:malloc:entry { @ = count(); }", f"sh -c 'exec {path} -u'")
            self.assertEqual(result.stdout.split()[0], "0", (path, result.stderr))

    def test_the_rights_of_a_program_are_found_from_a_folder_that_was_removed(self):
        """Its name in /proc leads to a folder beside a program of the same name that gives no rights."""
        work = self.folder / "work"
        (self.folder / "other" / "inner").mkdir(parents=True)
        (work / "inner").mkdir(parents=True)
        (work / "inner (deleted)").symlink_to("../other/inner")
        shutil.copy("/usr/bin/id", self.folder / "other")
        os.chmod(shutil.copy("/usr/bin/id", work), 0o4755)
        os.chown(work, NOBODY, NOBODY)
        result = self.run_as_user("pid$target:libc.so.6:malloc:entry { @ = count(); }", "sh -c 'cd work/inner; rmdir ../inner; exec ../id -u'")
        self.assertEqual(result.stdout.split()[0], "0", result.stderr)

    def test_files_that_must_not_be_read_to_their_end(self):
        """The wrapper tries them before the program."""
        fifo, endless = self.folder / "a" / "looper", self.folder / "b" / "looper"
        for file in (fifo, endless):
            file.parent.mkdir()
        os.mkfifo(fifo)
        endless.write_text("#!")
        os.truncate(endless, 1 << 36)
        for file in (fifo, endless):
            os.chmod(file, 0o755)
            result = self.run_as_user(COUNT, f"env PATH={file.parent}:{self.folder} looper 300")
            self.assertEqual((result.stdout.split()[-1:], result.stderr), (["300"], ""), file)

    def run_python(self, script, text, *arguments):
        (self.folder / "wrapper.py").write_text(text)
        return self.run_as_user(script, " ".join([python_for_users(), "wrapper.py", *arguments]))

    def test_a_program_that_blocks_the_signal_of_debug_registers(self):
        result = self.run_python(COUNT, BLOCKED, "./looper", "300")
        self.assertEqual((result.stdout.split()[-1], result.stderr), ("300", ""))
        result = self.run_python("pid$target:libc.so.6:malloc:entry { @ = count(); }", BLOCKED, "/bin/grep", "SigBlk", "/proc/self/status")
        self.assertIn("SigBlk:\t0000000000400000\n", result.stdout)

    def test_signals_that_constructors_block_stay_blocked(self):
        shutil.copy(program("libmasking_library.so"), self.folder)
        result = self.run_python("pid$target:libc.so.6:malloc:entry { @ = count(); }", BLOCKED, "/usr/bin/env", "LD_PRELOAD=./libmasking_library.so", "/bin/grep",
                                 "SigBlk", "/proc/self/status")
        self.assertIn("SigBlk:\t0000000000400800\n", result.stdout)

    def test_signal_handlers_run_before_it_executes_the_program(self):
        result = self.run_held(lambda: self.run_python(COUNT, STORM))
        self.assertEqual((result.stdout.split()[-1], result.stderr), ("300", ""))

    def test_ignored_signals_end_no_call_of_a_constructor(self):
        shutil.copy(program("libwaiting_library.so"), self.folder)
        result = self.run_python(COUNT, IGNORED)
        self.assertNotIn("interrupted", result.stdout)
        self.assertEqual((result.stdout.split()[-1], result.stderr), ("300", ""))

    def test_tries_without_end_do_not_hold_dvm(self):
        began = time.monotonic()
        result = self.run_python("pid$target:python*:PyErr_Clear:entry { @ = count(); } tick-1s { exit(0); }", ENDLESS)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertLess(time.monotonic() - began, 58)  # the wrapper goes on for longer

    def trace_lines(self, script, *command, prefix=AS_NOBODY):
        """A program that does something for each line, and dvm, whose probes are on."""
        target = subprocess.Popen([*prefix, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, cwd=self.folder)
        self.addCleanup(target.communicate)
        self.addCleanup(target.kill)
        target.stdout.readline()
        tracer = subprocess.Popen([*AS_NOBODY, "./dvm", "run", "-q", "-Z", "-n", 'BEGIN { printf("live\\n"); } ' + script, "-p", str(target.pid)],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder, env=ENV)
        self.addCleanup(tracer.communicate)
        self.addCleanup(tracer.kill)
        self.assertEqual(tracer.stdout.readline(), "live\n")
        return target, tracer

    def test_a_tracer_that_is_killed_leaves_the_program_running(self):
        def kill_at(turn):
            target, tracer = self.trace_lines("pid$target:renewed:func:entry { @ = count(); }", "./renewed", "lines", "12")
            for line in range(12):
                target.stdin.write("\n")
                if line == turn:
                    tracer.kill()
                    tracer.communicate()
                self.assertEqual(target.stdout.readline(), "0\n")
            target.communicate(timeout=60)
            return target.returncode

        self.assertEqual(dvmtest.together(kill_at, range(10)), [0] * 10)

    def test_a_tracer_that_is_stopped_holds_the_program_for_some_seconds_only(self):
        """Most of this time goes into placing its many probes."""
        target, tracer = self.trace_lines("pid$target:libc.so.6::entry, pid$target:renewed:func:entry { @ = count(); }", "./renewed", "lines", "5")
        for turn in range(5):
            target.stdin.write("\n")
            time.sleep(0.03 * (turn + 1))  # while it executes itself
            tracer.send_signal(signal.SIGSTOP)
            goes_on = select.select([target.stdout], [], [], PATIENCE)[0]
            tracer.send_signal(signal.SIGCONT)
            self.assertTrue(goes_on)
            self.assertEqual(target.stdout.readline(), "0\n")
        target.communicate(timeout=PATIENCE)
        self.assertEqual(target.returncode, 0)

    def test_a_program_that_has_ended_before_dvm_could_hold_it(self):
        target, tracer = self.trace_lines(COUNT, "sh", "-c", "echo; read line; exec ./looper 300")
        tracer.send_signal(signal.SIGSTOP)
        target.communicate("\n", timeout=60)
        tracer.send_signal(signal.SIGCONT)
        self.assertIn(f"process {target.pid} has ended after it was about to execute a program, which could not be held", tracer.communicate(timeout=60)[1])

    def make_root(self, *programs):
        """A folder with these programs and what they need, which can be their root directory."""
        root = self.folder / "root"
        for file in programs:
            needed = subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout
            for path in (file, *re.findall(r"/\S+", needed)):
                copied = root / ("bin" if path == file else os.path.dirname(path)[1:])
                copied.mkdir(parents=True, exist_ok=True)
                shutil.copy(path, copied)
        return root

    def test_in_another_root_directory(self):
        root = self.make_root("/bin/sh", program("looper"))
        (root / "bin" / "link").symlink_to("/bin/looper")
        for path in ("/bin/looper", "./looper", "../bin/link"):
            with self.subTest(path):
                target, tracer = self.trace_lines("pid$target::func:entry { @ = count(); }", "/bin/sh", "-c", f"cd /bin; echo; read line; exec {path} 300",
                                                  prefix=("chroot", f"--userspec={NOBODY}:{NOBODY}", root))
                target.communicate("\n", timeout=PATIENCE)
                out, err = tracer.communicate(timeout=PATIENCE)
                self.assertEqual((out.split(), err), (["300"], ""))

    def test_rights_of_programs_in_another_root_directory(self):
        """As without dvm: by a file, a link, the interpreter of a script, and a path from outside of the root directory."""
        root = self.make_root("/bin/sh", "/bin/sed")
        (root / "secret").write_text("secret\n")
        (root / "bin" / "script").write_text("#!/bin/sed -f\nr /secret\n")
        (root / "bin" / "link").symlink_to("/bin/sed")
        for file, mode in (("secret", 0o600), ("bin/script", 0o755), ("bin/sed", 0o4755)):
            os.chmod(root / file, mode)
        shutil.copytree(root / "bin", self.folder / "given")
        os.chmod(shutil.copy("/bin/sed", root), 0o4755)
        os.chmod(shutil.copy("/bin/sed", self.folder), 0o755)  # not what root/../sed is for the program
        inside = ("chroot", f"--userspec={NOBODY}:{NOBODY}", root, "/bin/sh", "-c", 'cd /bin; echo; read line; exec "$@"', "sh")
        outside = (sys.executable, "-c", LEAVING, root)
        for command in ((*inside, "./sed", "r /secret"), (*inside, "/bin/link", "r /secret"), (*inside, "../bin/script"),
                        (*outside, "./given/sed", "r /secret"), (*outside, "root/../sed", "r /secret")):
            with self.subTest(command):
                target, tracer = self.trace_lines("pid$target:libc.so.6:malloc:entry { @ = count(); }", *command, prefix=())
                self.assertEqual(target.communicate("\nline\n", timeout=PATIENCE)[0], "line\nsecret\n")
                self.assertIn("could not be held", tracer.communicate(timeout=PATIENCE)[1])

    def test_a_try_that_failed_while_dvm_was_stopped_is_not_taken_for_a_program(self):
        """Once dvm goes on, the thread does other things."""
        (self.folder / "wrapper.py").write_text(FAILED)
        target, tracer = self.trace_lines("pid$target:libc.so.6:getppid:entry { @ = count(); }", python_for_users(), "wrapper.py")
        tracer.send_signal(signal.SIGSTOP)
        target.stdin.write("\n")
        self.assertEqual(target.stdout.readline(), "failed\n")
        tracer.send_signal(signal.SIGCONT)
        target.communicate(timeout=PATIENCE)
        out, err = tracer.communicate(timeout=PATIENCE)
        self.assertGreater(int(out), 0)
        self.assertEqual(err, "")

    def test_programs_that_are_not_held_are_counted(self):
        """Their file sets the group that the process has anyway."""
        shutil.copy(program("renewed"), self.folder / "grouped")
        os.chown(self.folder / "grouped", NOBODY, NOBODY)
        os.chmod(self.folder / "grouped", 0o2755)
        target, tracer = self.trace_lines("pid$target:grouped:func:entry { @ = count(); }", "./grouped", "lines", "2")
        for _ in range(2):
            self.assertTrue(dvmtest.eventually(lambda: self.is_probed(target.pid)))
            target.stdin.write("\n")
            self.assertEqual(target.stdout.readline(), "0\n")
        self.assertTrue(dvmtest.eventually(lambda: self.is_probed(target.pid)))  # dvm sees the last one before it ends
        target.communicate(timeout=PATIENCE)
        self.assertIn(f"process {target.pid} has executed at least 2 programs that could not be held", tracer.communicate(timeout=PATIENCE)[1])

    def is_probed(self, pid):
        """Also false while it executes a program."""
        try:
            return dvmtest.Text(pid, "/grouped").has_jump()
        except (OSError, StopIteration):
            return False

    def test_programs_of_a_process_that_takes_no_agent_are_told_of(self):
        """It has no probes yet."""
        target, tracer = self.trace_lines(COUNT, "sh", "-c", "ulimit -f 100000; echo; read line; exec ./looper 300")
        target.communicate("\n", timeout=PATIENCE)
        said = tracer.communicate(timeout=PATIENCE)[1]
        self.assertIn(f"process {target.pid}: programs that it executes and libraries that it opens cannot be held, and their first firings are lost: the size of its files is limited", said)

    def test_a_call_of_a_program_that_dvm_finds_too_late_does_not_end(self):
        """dvm looks whether it executes another program soon. The kernel ends this call for a tracer."""
        shutil.copy(program("waits"), self.folder)
        run = subprocess.Popen([*AS_NOBODY, "./dvm", "run", "-q", "-Z", "-n", "pid$target:waits:begins:entry { @ = count(); }", "-c", "./retrying 700 syscall ./waits epoll_pwait"],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, bufsize=1, cwd=self.folder, env=ENV)
        self.addCleanup(run.kill)
        self.assertEqual(run.stdout.readline(), "ready\n")
        time.sleep(0.5)
        out, err = run.communicate("\n", timeout=PATIENCE)
        self.assertEqual(out.split()[0], "over")
        self.assertIn("has executed a program that could not be held", err)

    def test_the_program_has_the_state_that_it_has_without_dvm(self):
        command = ["env", "sed", "-nE", "/^(TracerPid|Threads|SigPnd|ShdPnd|SigBlk|SigIgn|SigCgt|NoNewPrivs|Seccomp):/p", "/proc/self/status"]
        expected = subprocess.run([*AS_NOBODY, *command], capture_output=True, text=True, check=True).stdout
        self.assertEqual(len(expected.splitlines()), 9)
        result = self.run_as_user('pid$target:libc.so.6:write:entry { printf("%s wrote\\n", execname); }', shlex.join(command))
        self.assertEqual((result.stdout.replace("sed wrote\n", "").strip(), result.stderr), (expected.strip(), ""))
        self.assertIn("sed wrote\n", result.stdout)

    def test_nothing_is_placed_once_the_agent_has_left(self):
        library = shutil.copy(pathlib.Path(program("renewed")).parent / "liblate_library.so", self.folder)
        (self.folder / "wrapper.py").write_text(LEFT)
        result = self.run_as_user("pid$target::getppid:entry, pid$target::late_function:entry { @[probefunc] = count(); }", f"{python_for_users()} wrapper.py {library}")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("once\nlocked\ncalled, 0 mappings\n", result.stdout)
        self.assertIn("locked its memory (mlockall)", result.stderr)

    def test_a_process_that_is_not_dumpable_is_refused_with_this_reason(self):
        script = "import ctypes; ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); print(flush=True); input()"
        target = subprocess.Popen([*AS_NOBODY, python_for_users(), "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(target.communicate, "\n")
        target.stdout.readline()
        for pid, reason in ((target.pid, "or is not dumpable (PR_SET_DUMPABLE)"), (os.getpid(), "it is another user's")):
            result = subprocess.run([*AS_NOBODY, "./dvm", "run", "-n", COUNT, "-p", str(pid)], capture_output=True, text=True, cwd=self.folder, env=ENV, timeout=PATIENCE)
            self.assertEqual(result.returncode, 1)
            self.assertIn(reason, result.stderr)


if __name__ == "__main__":
    unittest.main()
