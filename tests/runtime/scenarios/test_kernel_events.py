"""System calls, the scheduler and processes, on programs of the system: cat, sh, find."""

import os
import signal
import subprocess
import tempfile
import unittest

import dvmtest
from dvmtest import dvm, numbers

# Each call waits for longer than a second, and is interrupted after 50 ms.
INTERRUPTED = """
#include <poll.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
static void handle(int number) { (void)number; }
static void interrupt(void) { setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0, 50000}}, 0); }
int main(void) {
  int pipes[2];
  char c;
  sigaction(SIGALRM, &(struct sigaction){.sa_handler = handle}, 0);
  if (pipe(pipes) != 0) return 1;
  interrupt();
  nanosleep(&(struct timespec){.tv_sec = 9}, 0);
  interrupt();
  if (read(pipes[0], &c, 1) != -1) return 1;
  interrupt();
  poll(0, 0, 9000);
  return 0;
}
"""

# A child that exits with 7, a signal with a value, and a fault at 0x1234.
SIGNALLED = """
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
static void go_on(int number) { (void)number; }
static void end(int number) { (void)number; _exit(0); }
int main(void) {
  signal(SIGCHLD, go_on);
  signal(SIGUSR1, go_on);
  signal(SIGSEGV, end);
  if (fork() == 0) _exit(7);
  while (wait(0) < 0) continue;
  sigqueue(getpid(), SIGUSR1, (union sigval){.sival_int = 42});
  *(volatile int *)0x1234 = 1;
}
"""


class SystemCalls(dvmtest.PrivilegedTest):
    def run_script(self, script, command, *options):
        result = dvm("run", "-q", *options, "-n", script, "-c", command)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def test_what_cat_reads_is_what_it_writes(self):
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"x" * 300_000)
            file.flush()
            script = """
                syscall::openat:entry /pid == $target/ { self->is_it = copyinstr(arg1) == "%s"; }
                syscall::openat:return /pid == $target && self->is_it/ { file = (int)arg0; self->is_it = 0; }
                syscall::read:entry /pid == $target && file != 0 && arg0 == file/ { self->reads = 1; }
                syscall::read:return /self->reads/ { @["read"] = sum(arg0); self->reads = 0; }
                syscall::write:entry /pid == $target && arg0 == 1/ { self->writes = 1; }
                syscall::write:return /self->writes/ { @["wrote"] = sum(arg0); self->writes = 0; }
                END { printa("%%s %%@d\\n", @); }"""
            result = dvm("run", "-q", "-o", "/dev/stderr", "-n", script % file.name, "-c", f"cat {file.name}")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("read 300000\n", result.stderr)
            self.assertIn("wrote 300000\n", result.stderr)

    def test_an_interrupted_call_fails_with_eintr(self):
        folder = dvmtest.own_folder(self)
        subprocess.run(["gcc", "-x", "c", "-", "-o", folder / "interrupted"], input=INTERRUPTED, text=True, check=True)
        script = "syscall:::return /pid == $target && errno == EINTR/ { printf(\"%s %d\\n\", probefunc, (int)arg0); }"
        for backend in "uprobe", "breakpoint":
            shown = self.run_script(script, f"{folder}/interrupted", "-x", f"backend={backend}")
            self.assertEqual(shown.strip().split("\n"), ["clock_nanosleep -1", "read -1", "poll -1"], backend)

    def test_find_looks_into_each_folder_once(self):
        with tempfile.TemporaryDirectory() as top:
            for name in ("a", "a/b", "a/b/c", "d"):
                os.mkdir(os.path.join(top, name))
            script = "syscall::getdents64:return /pid == $target && arg0 == 0/ { @ = count(); } END { printa(\"%@d\\n\", @); }"
            output = self.run_script(script, f"find {top} -type f")
            self.assertEqual(numbers(output), [5])

    def test_times_are_sums_of_calls(self):
        script = """
            syscall:::entry /pid == $target/ { self->began = timestamp; self->used = vtimestamp; @calls = count(); }
            syscall:::return /pid == $target && self->began/ {
              @returns = count(); @back = sum(timestamp <= self->began || vtimestamp < self->used); self->began = 0; }
            END { printa("%@d ", @calls); printa("%@d ", @returns); printa("%@d\\n", @back); }"""
        calls, returns, back = numbers(self.run_script(script, "find /usr/bin -maxdepth 1 -name nosuch"))
        self.assertGreater(calls, 10)
        self.assertEqual(returns, calls - 1)  # exit_group() does not return
        self.assertEqual(back, 0)

    def test_shell_runs_what_it_is_told(self):
        script = """
            proc:::create /pid == $target/ { mine[args[0]->pr_pid] = 1; @["create"] = count(); }
            proc:::exec /mine[pid]/ { @[stringof(args[0])] = count(); }
            proc:::exec-success /mine[pid]/ { @[execname] = count(); }
            proc:::exit /mine[pid]/ { @[args[0] == CLD_EXITED ? "exited" : "killed"] = count(); }
            END { printa("%s %@d\\n", @); }"""
        output = self.run_script(script, "/bin/sh -c '/bin/true; /bin/cat /dev/null; /bin/true; :'")
        self.assertEqual(sorted(output.split("\n")[:-1]),
                         ["", "/bin/cat 1", "/bin/true 2", "cat 1", "create 3", "exited 3", "true 2"])

    def test_time_on_the_cpu_is_less_than_all_the_time(self):
        script = """
            BEGIN { began = timestamp; }
            sched:::on-cpu /pid == $target/ { self->on = timestamp; }
            sched:::off-cpu /pid == $target && self->on/ { on += timestamp - self->on; off++; self->on = 0; }
            END { printf("%d %d\\n", off > 0 && on > 0, on < timestamp - began); }"""
        output = self.run_script(script, "sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; sleep 0.1'")
        self.assertEqual(numbers(output), [1, 1])

    def test_example_counts_and_times_calls(self):
        result = dvm("run", str(dvmtest.ROOT / "examples/system-calls.d"), "-c", "cat /dev/null")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = [line.split() for line in result.stdout.splitlines() if line.strip()]
        calls = {row[0]: (int(row[1]), int(row[2])) for row in rows if len(row) == 3 and row[1].isdigit()}
        self.assertIn("openat", calls, result.stdout)
        self.assertGreater(calls["openat"][1], 0)
        self.assertEqual(calls["exit_group"], (1, 0))

    def test_calls_of_others_do_not_fire(self):
        other = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        try:
            script = "syscall:::entry /pid == $1/ { @ = count(); } END { printa(\"%@d\\n\", @); }"
            result = dvm("run", "-q", "-n", script, "-c", "cat /dev/null", str(other.pid))
            self.assertEqual((result.returncode, result.stdout.strip()), (0, ""), result.stderr)
        finally:
            other.stdin.close()
            other.wait(30)

    def test_command_lines_of_short_processes_are_known(self):
        """dvm learns of such a process when it has ended, or when it executes another program already."""
        words = "x" * 700
        command = f"sh -c 'for i in 1 2 3 4 5 6 7 8; do /bin/true word $i; done; /bin/true {words}'"
        script = 'proc:::exec-success /execname == "true" && ppid == $target/ { printf("%s\\n", execargs); }'
        rows = [f"/bin/true word {n}" for n in range(1, 9)]
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "execs.dvm")
            record = dvm("record", "-q", "-x", "strsize=1k", "-o", file, "-n", script, "-c", command)
            self.assertEqual(record.stdout.splitlines()[:8], rows, record.stderr)
            self.assertRegex(record.stdout.splitlines()[8], "^/bin/true x{490}")  # of a longer one at least the beginning
            replay = dvm("replay", "-q", "-x", "strsize=1k", file, "-n", script.replace("&& ppid == $target", ""))
            self.assertIn("/bin/true word 7\n", replay.stdout, replay.stderr)

    def test_descendants_are_known_when_they_have_ended(self):
        """Each `true`, and the shell that starts it, ends before dvm runs the clause."""
        script = 'syscall::execve:entry, syscall::exit_group:entry /progenyof($target)/ { @[probefunc, execname] = count(); }'
        out = self.run_script(script, "sh -c 'for i in 1 2 3 4 5 6 7 8; do sh -c \"/bin/true; :\"; done; exit 0'")
        rows = sorted(line.split() for line in out.splitlines() if line.strip())
        self.assertEqual(rows, [["execve", "sh", "16"], ["exit_group", "sh", "9"], ["exit_group", "true", "8"]])

    def test_numbers_of_short_processes_are_known(self):
        """Each `true` has ended before dvm runs the clause."""
        script = """
            proc:::exit /execname == "true" && ppid == $target/ {
              printf("%s %d %d %d %d\\n", curlwpsinfo->pr_clname, curlwpsinfo->pr_nice, curlwpsinfo->pr_pri, curpsinfo->pr_euid,
                     curpsinfo->pr_sid == pid && curpsinfo->pr_pgid == pid); }"""
        row = "B 25 125 65534 1"
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "numbers.dvm")
            true = "setsid setpriv --reuid=65534 nice -n 5 chrt -b 0 /bin/true"
            record = dvm("record", "-q", "-o", file, "-n", script, "-c", f"sh -c 'for i in 1 2 3 4 5 6 7 8; do {true}; done; :'")
            self.assertEqual(record.stdout.split("\n")[:8], [row] * 8, record.stderr)
            replay = dvm("replay", "-q", file, "-n", script.replace("&& ppid == $target", ""))
            self.assertIn(row, replay.stdout, replay.stderr)

    def test_roots_of_file_systems_are_not_deleted(self):
        script = 'syscall::getdents64:entry /pid == $target/ { @[fds[arg0].fi_pathname] = count(); }'
        rows = [line.split()[:-1] for line in self.run_script(script, "sh -c 'exec ls / /proc /sys > /dev/null'").splitlines() if line.strip()]
        self.assertEqual(sorted(rows), [["/"], ["/proc"], ["/sys"]])

    def test_working_directories_of_short_processes_are_known(self):
        script = 'syscall::exit_group:entry /execname == "true" && progenyof($target)/ { printf("%s\\n", cwd); }'
        folder = dvmtest.own_folder(self)
        file = str(folder / "directories.dvm")
        (folder / "inner" / "most").mkdir(parents=True)
        command = f"sh -c 'for i in 1 2 3 4; do cd {folder}/inner/most; /bin/true; cd /; /bin/true; done; :'"
        rows = [f"{folder}/inner/most", "/"] * 4
        record = dvm("record", "-q", "-o", file, "-n", script, "-c", command)
        self.assertEqual(record.stdout.splitlines()[:8], rows, record.stderr)
        replay = dvm("replay", "-q", file, "-n", script)
        self.assertEqual(replay.stdout.splitlines()[:8], rows, replay.stderr)

    def test_descendants_of_ended_ones_without_firings_are_known(self):
        """The shells between $target and `true` fire nothing, and have ended when dvm runs the clause."""
        script = 'syscall::exit_group:entry /execname == "true" && progenyof($target)/ { @ = count(); } END { printa("%@d\\n", @); }'
        folder = dvmtest.own_folder(self)
        (folder / "first").write_text(f"for i in 1 2 3 4 5 6 7 8; do sh {folder}/second; :; done\n")
        (folder / "second").write_text(f"sh {folder}/third; :\n")
        (folder / "third").write_text("/bin/true; :\n")
        file = str(folder / "deep.dvm")
        record = dvm("record", "-q", "-o", file, "-n", script, "-c", f"sh {folder}/first")
        self.assertEqual(record.stdout.strip(), "8", record.stderr)
        self.assertEqual(dvm("replay", "-q", file, "-n", script).stdout.strip(), "8")

    def test_a_signal_says_what_it_brings(self):
        folder = dvmtest.own_folder(self)
        subprocess.run(["gcc", "-x", "c", "-", "-o", folder / "signalled"], input=SIGNALLED, text=True, check=True)
        script = """
            proc:::signal-handle /pid == $target && args[0] == SIGCHLD/ { printf("status %d\\n", args[1]->si_status); }
            proc:::signal-handle /pid == $target && args[0] == SIGUSR1/ {
              printf("value %d %d\\n", args[1]->si_value.sival_int, args[1]->si_pid == pid); }
            proc:::signal-handle /pid == $target && args[0] == SIGSEGV/ { printf("fault %x\\n", (uintptr_t)args[1]->si_addr); }"""
        self.assertEqual(self.run_script(script, f"{folder}/signalled").split("\n")[:3], ["status 7", "value 42 1", "fault 1234"])

    def test_the_state_of_a_thread_that_leaves_a_cpu(self):
        """One that sleeps, two that want the same CPU, and one that ends."""
        work = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"
        command = f"taskset -c {min(os.sched_getaffinity(0))} sh -c 'sleep 0.1; ({work}) & {work}; wait'"
        text = ("sched:::off-cpu /pid == $target || progenyof($target)/ { @left[execname, curlwpsinfo->pr_state, curlwpsinfo->pr_sname] = count(); } "
                "syscall:::entry /pid == $target/ { @runs = sum(curlwpsinfo->pr_state != SONPROC || curlwpsinfo->pr_sname != 'O'); } "
                'END { printa("%s %d %c|", @left); printa("%@d", @runs); }')
        states, _, wrong = dvm("run", "-q", "-n", text, "-c", command).stdout.strip().rpartition("|")
        self.assertLessEqual({"sh 1 S", "sh 2 R", "sleep 1 S", "sleep 3 Z"}, set(states.split("|")))
        self.assertEqual(wrong, "0")

    def test_the_state_of_a_thread_is_replayed_if_it_was_recorded(self):
        with tempfile.TemporaryDirectory() as folder:
            for value, expected in (("curlwpsinfo->pr_state", "1 S"), ("tid", "0 ?")):
                file = os.path.join(folder, "states.dvm")
                dvm("record", "-q", "-o", file, "-n", f"sched:::off-cpu /pid == $target/ {{ trace({value}); }}", "-c", "sleep 0.1")
                replay = dvm("replay", "-q", file, "-n", 'sched:::off-cpu { printf("%d %c\\n", curlwpsinfo->pr_state, curlwpsinfo->pr_sname); }')
                self.assertIn(expected, replay.stdout.splitlines(), replay.stderr)

    def test_events_are_recorded_and_replayed(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "calls.dvm")
            record = dvm("record", "-q", "-o", file, "-n", "syscall::openat: /pid == $target/ { trace(errno); }", "-c",
                         "cat /nonexistent")
            self.assertEqual(record.returncode, 0, record.stderr)
            replay = dvm("replay", "-q", file, "-n", "syscall::openat:return /errno == ENOENT/ { found = (int)arg1; exit(0); } "
                         "END { printf(\"%d\\n\", found); }")
            self.assertEqual(replay.stdout.split(), ["-1"], replay.stderr)

    def test_a_descriptor_that_is_taken_for_a_path_gets_a_hint_once(self):
        result = dvm("run", "-q", "-n", "syscall::openat:entry /pid == $target/ { trace(copyinstr(arg0)); }", "-c",
                     "cat /dev/null /dev/null")
        self.assertGreater(result.stderr.count("invalid address"), 1, result.stderr)
        self.assertEqual(result.stderr.count("hint: arg0 of openat is a directory's descriptor; its path is arg1\n"), 1)
        result = dvm("run", "-q", "-n", "syscall::read:entry /pid == $target/ { trace(copyinstr(arg0)); }", "-c", "cat /dev/null")
        self.assertNotIn("hint:", result.stderr)

    def test_exit_leaves_the_rows_that_trunc_kept(self):
        script = "profile-997 { @[timestamp, cpu] = count(); } tick-200ms { trunc(@, 4); exit(0); }"
        for _ in range(3):
            result = dvm("run", "-q", "-n", script + " END { @[0, 0] = count(); }")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(len(result.stdout.split()), 3 * 5, result.stdout)


class Harm(dvmtest.PrivilegedTest):
    def test_nothing_is_left_when_dvm_is_killed(self):
        """The program continues, and its system calls work as before."""
        target = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(3):
            tracer = subprocess.Popen([dvmtest.DVM, "run", "-n", "BEGIN { printf(\"on\\n\"); } syscall:::, sched::: { @ = count(); }",
                                       "-p", str(target.pid), "-x", "switchrate=1ms"], stdout=subprocess.PIPE, text=True,
                                      env=dvmtest.ENV)
            while "on" not in tracer.stdout.readline():
                self.assertIsNone(tracer.poll())
            tracer.send_signal(signal.SIGKILL)
            tracer.wait(30)
            tracer.stdout.close()
        output, _ = target.communicate("a line\n", timeout=30)
        self.assertEqual(output, "a line\n")


if __name__ == "__main__":
    unittest.main()
