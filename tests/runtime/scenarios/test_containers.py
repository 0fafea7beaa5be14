"""dvm in a container, with process ids of its own."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

import dvmtest
from dvmtest import DVM, dvm, program

CONTAINER = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")
AS_NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all")
MARK = "pid$target:owner:mark:entry"
FUNC = "pid$target:looper:func:entry { @ = count(); }"


def text_of(pid, name):
    return pathlib.Path(f"/proc/{pid}/{name}").read_text()


def children_of(pid):
    return text_of(pid, f"task/{pid}/children").split()


THREADS = """import ctypes, os, threading
libc, began, printed, may_end = ctypes.CDLL(None), threading.Barrier(4), threading.Barrier(4), threading.Event()
def run():
  began.wait()
  os.read(0, 1)
  for _ in range(50): libc.atoi(b"1")
  os.write(1, b"%d\\n" % threading.get_native_id())
  printed.wait()
  may_end.wait()
def end_soon():
  for _ in range(50): libc.atoi(b"2")
threads = [threading.Thread(target=run) for _ in range(3)]
for one in threads: one.start()
began.wait()
print("ready", flush=True)
printed.wait()
os.read(0, 1)
soon = [threading.Thread(target=end_soon) for _ in range(5)]
for one in soon: one.start()
for one in soon: one.join()
print("soon", flush=True)
os.read(0, 1)
may_end.set()"""

# Twenty processes.
SLEEPERS = """import os, time
parent = os.getpid()
for _ in range(20):
  if os.fork() == 0:
    while os.getppid() == parent: time.sleep(0.01)
    os._exit(0)
print(flush=True)
input()"""


class AgentsFromOutside(dvmtest.PrivilegedTest):
    """dvm traces a process of a container by an agent, and shows the ids of its own PID namespace."""

    def start(self, *words, options=()):
        container = subprocess.Popen([*CONTAINER, *options, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.addCleanup(container.communicate)
        self.addCleanup(container.kill)
        line = container.stdout.readline()
        if not line:
            dvmtest.skip_or_fail(self, "no PID namespace can be made here")
        self.assertEqual(line, "ready\n")
        return container, int(children_of(container.pid)[0])

    def trace(self, pid, script, *options):
        text = script + ' BEGIN { printf("on\\n"); }'
        tracer = subprocess.Popen([DVM, "run", "-q", "-x", "backend=agent", *options, "-n", text, "-p", str(pid)],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dvmtest.ENV)
        self.addCleanup(tracer.communicate)
        self.addCleanup(tracer.kill)
        self.assertEqual(tracer.stdout.readline(), "on\n")
        return tracer

    def rows(self, tracer):
        out, errors = tracer.communicate(timeout=120)
        self.assertEqual((tracer.returncode, errors.replace(f"dvm: pid {tracer.args[-1]} has exited\n", "")), (0, ""))
        return sorted(line.split() for line in out.splitlines() if line)

    def test_ids_and_stacks(self):
        """Clauses that run in the thread, in dvm, and by uprobes; in a user namespace as well."""
        script = MARK.replace("owner:mark", "looper:func") + """ { @["pid", pid == $target] = count(); @["stack", 1] = count(); }
                 pid$target:looper:func:return { @["tid", tid == $target] = count(); self->n++; }
                 pid$target:looper:main:return { printf("%d %d\\n", self->n, pid == $target); }"""
        for options in ((), ("-Ur",)):
            with self.subTest(options):
                container, pid = self.start(program("looper"), "100", "wait", options=options)
                tracer = self.trace(pid, script)
                container.stdin.write("\n")
                self.assertEqual(self.rows(tracer), [["100", "1"], ["pid", "1", "100"], ["stack", "1", "100"], ["tid", "1", "100"]])
                self.assertIn("ns/call", container.stdout.read())

    def test_its_parent_is_that_outside(self):
        container, pid = self.start(program("looper"), "100", "wait")
        tracer = self.trace(pid, f"pid$target:looper:func:entry {{ @[ppid == {container.pid}] = count(); }}")
        container.stdin.write("\n")
        self.assertEqual(self.rows(tracer), [["1", "100"]])

    def test_ids_of_threads(self):
        """Also of those that end before dvm can ask for their ids: they have minus those that they know."""
        container, pid = self.start("python3", "-c", THREADS)
        tracer = self.trace(pid, "pid$target::atoi:entry { @[tid] = count(); } pid$target::atoi:entry { @all = count(); }", "-x", "aggsortkey")
        for _ in range(3):
            container.stdin.write("\n")
        inside = {int(container.stdout.readline()) for _ in range(3)}
        tids = {}
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            ids = re.search(r"NSpid:(.*)", (task / "status").read_text())[1].split()
            tids[int(ids[-1])] = task.name
        container.stdin.write("\n")
        self.assertEqual(container.stdout.readline(), "soon\n")
        container.stdin.write("\n")
        rows = self.rows(tracer)
        self.assertLessEqual({(tids[one], "50") for one in inside}, {tuple(row) for row in rows}, rows)
        self.assertEqual(len(rows), 9, rows)
        others = [int(row[0]) for row in rows if len(row) == 2 and row[0] not in tids.values()]
        self.assertEqual(len(others), 5, rows)
        self.assertTrue(all(one > pid or -1000 < one < 0 for one in others), rows)
        self.assertIn(["400"], rows)

    def test_dvm_inside_leaves_the_agent_alone(self):
        """It does not see the tracer."""
        container, pid = self.start(program("looper"), "100", "wait")
        tracer = self.trace(pid, "pid$target:looper:func:entry { @ = count(); }")
        enter = ["nsenter", "-t", str(pid), "-p", "-m", DVM]
        result = subprocess.run([*enter, "detach", "-p", "1"], capture_output=True, text=True, env=dvmtest.ENV, timeout=60)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("process 1 is traced by a dvm outside this PID namespace, which must end first", result.stderr)
        container.stdin.write("\n")
        self.assertEqual(self.rows(tracer), [["100"]])

    def test_forks_are_not_followed(self):
        container, pid = self.start(program("looper"), "100", "wait")
        listed = dvm("run", "-v", "-q", "-x", "backend=agent", "-x", "followfork", "-n", "pid$target:looper:func:entry { @ = count(); } tick-1ms { exit(0); }", "-p", str(pid))
        self.assertIn("not agent: it is in another PID namespace (a container), where an agent follows no forks", listed.stdout + listed.stderr)


class UsersContainers(unittest.TestCase):
    """Without privileges, dvm traces a process in a container that its user has made."""

    def test_a_program_that_it_executes_waits_for_its_probes(self):
        """It cannot see dvm."""
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            dvmtest.skip_or_fail(self, "needs root, to become a user")
        folder = dvmtest.own_folder(self)
        os.chmod(folder, 0o755)
        for file in (DVM, program("looper"), program("tracing_privilege")):
            shutil.copy(file, folder)
        if dvmtest.privilege_missing_for("breakpoints", AS_NOBODY, folder / "tracing_privilege"):
            dvmtest.skip_or_fail(self, "users may not have breakpoints")
        for _ in range(5):  # on a busy machine the program may run before dvm holds it, as dvm says
            out, err = self.trace_program(folder)
            if "could not be held" not in err:
                break
        self.assertEqual((out.split(), err), (["main", "1", "func", "300"], ""))

    def trace_program(self, folder):
        container = subprocess.Popen([*AS_NOBODY, *CONTAINER, "-Ur", "sh", "-c", "echo ready; read line; exec ./looper 300"],
                                     stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1, cwd=folder)
        self.addCleanup(container.communicate)
        self.addCleanup(container.kill)
        if container.stdout.readline() != "ready\n":
            dvmtest.skip_or_fail(self, "users may not make containers here")
        script = 'BEGIN { printf("on\\n"); } pid$target:looper:main:entry, pid$target:looper:func:entry { @[probefunc] = count(); }'
        tracer = subprocess.Popen([*AS_NOBODY, "./dvm", "run", "-q", "-Z", "-x", "backend=agent", "-n", script, "-p", children_of(container.pid)[0]],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=folder, env=dvmtest.ENV)
        self.addCleanup(tracer.communicate)
        self.addCleanup(tracer.kill)
        self.assertEqual(tracer.stdout.readline(), "on\n")
        container.stdin.write("\n")
        return tracer.communicate(timeout=120)


class Containers(dvmtest.PrivilegedTest):
    def setUp(self):
        super().setUp()
        made = subprocess.run([*CONTAINER, "true"], capture_output=True, text=True)
        if made.returncode != 0:
            dvmtest.skip_or_fail(self, "no PID namespace can be made here: " + made.stderr)

    def run_inside(self, *arguments):
        result = subprocess.run([*CONTAINER, DVM, *arguments], capture_output=True, text=True, env=dvmtest.ENV, timeout=120)
        said = dvmtest.without_neighbours(result.stderr)
        self.assertEqual((result.returncode, re.sub(r"dvm: 15 events recorded .*\n", "", said)), (0, ""))
        return result

    def rows(self, *arguments):
        return sorted(line.split() for line in self.run_inside("run", "-q", *arguments).stdout.splitlines() if line)

    FORKS = MARK + " { @[ppid == $target, progenyof($target), curpsinfo->pr_ppid == $target, pid == tid, pid > $target] = count(); }"

    def test_the_ids_of_followed_children(self):
        for backend in ("uprobe", "agent"):
            with self.subTest(backend):
                rows = self.rows("-x", "followfork", "-x", f"backend={backend}", "-n", self.FORKS, "-c", program("owner") + " 5")
                self.assertEqual(rows, [["1", "1", "1", "1", "1", "15"]])

    def check_outside(self, path, inside, *command):
        """A process with an agent. Another dvm follows forks by uprobes, which lie in all processes. On a jump, the kernel would replace one byte."""
        outside = subprocess.Popen([path, "1000", "wait"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(outside.communicate)
        self.assertEqual(outside.stdout.readline(), "ready\n")
        agent = dvmtest.start_tracer(self, FUNC, "-x", "backend=agent", "-p", str(outside.pid))
        other = subprocess.run([*command, DVM, "run", "-q", "-x", "followfork", "-x", "backend=uprobe", "-n", FUNC, "-c", f"{inside} 7"],
                               capture_output=True, text=True, env=dvmtest.ENV, timeout=120)
        self.assertIn("an agent has replaced its code in another process", other.stderr)
        outside.communicate("\n", timeout=60)
        self.assertEqual(outside.returncode, 0)
        out, err = agent.communicate(timeout=60)
        self.assertEqual((out.split(), err), (["1000"], ""))

    def test_an_agent_outside(self):
        self.check_outside(program("looper"), program("looper"), *CONTAINER)

    OVERLAY = 'mount -t overlay overlay -o "lowerdir=$1/low,upperdir=$1/up,workdir=$1/work" "$1/all" && shift && exec "$@"'

    def test_an_agent_in_a_file_of_the_layer_below(self):
        folder = dvmtest.own_folder(self)
        for name in ("low", "up", "work", "all"):
            (folder / name).mkdir()
        shutil.copy(program("looper"), folder / "low")
        mount = ("unshare", "-m", "sh", "-c", self.OVERLAY, "sh", str(folder))
        if subprocess.run([*mount, "true"], capture_output=True).returncode != 0:
            dvmtest.skip_or_fail(self, "no overlay can be mounted here")
        self.check_outside(folder / "low" / "looper", folder / "all" / "looper", *mount)

    def test_a_recording_has_them(self):
        path = os.path.join(dvmtest.own_folder(self), "forks.dvm")
        script = MARK + " { @[ppid == $target, pid > $target] = count(); }"
        self.run_inside("record", "-q", "-o", path, "-x", "followfork", "-n", script, "-c", program("owner") + " 5")
        self.assertEqual(dvm("replay", "-q", path, "-n", script).stdout.split(), ["1", "1", "15"])

    def test_the_ids_of_processes_that_have_ended(self):
        script = "syscall::exit_group:entry /progenyof($target) && pid != $target/ { @[ppid == $target, curpsinfo->pr_pgid > 0, curpsinfo->pr_sid > $target] = count(); }"
        rows = self.rows("-n", script, "-c", "sh -c 'setsid -w /bin/true; setsid -w /bin/true; setsid -w /bin/true'")
        self.assertEqual(rows, [["1", "1", "1", "3"]])

    def test_the_ids_of_other_threads(self):
        script = """proc:::create /pid == $target/ { made[args[0]->pr_pid] = 1; }
                    proc:::start /made[pid]/ { @["started"] = count(); }
                    sched:::on-cpu /made[pid] == 1/ { made[pid] = 2; @["ran"] = count(); }
                    sched:::wakeup /args[1]->pr_pid == $target/ { woken = 1; }
                    END { printf("woken %d\\n", woken); }"""
        self.assertEqual(self.rows("-n", script, "-c", "sh -c '/bin/true; /bin/true; /bin/true'"), [["ran", "3"], ["started", "3"], ["woken", "1"]])

    def test_a_container_in_the_container(self):
        rows = self.rows("-x", "followfork", "-n", "pid$target:looper:func:entry { @[execname, pid > $target, pid == tid, ppid == $target, progenyof($target)] = count(); }",
                         "-Z", "-c", f"unshare --pid --fork {program('looper')} 100")
        self.assertIn(["looper", "1", "1", "1", "1", "100"], rows)

    def test_threads_outside_have_negative_ids_and_variables_of_their_own(self):
        """They sleep at the same time. The kernel may keep their ids where it has kept those of a container that has ended."""
        subprocess.run([*CONTAINER, "sh", "-c", "for i in $(seq 100); do sleep 0.1 & done; wait"], check=True)
        sleeper = dvmtest.own_folder(self) / f"sleeper{os.getpid()}"
        sleeper.symlink_to("/usr/bin/python3")
        outside = subprocess.Popen([sleeper, "-c", SLEEPERS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(outside.communicate)
        self.addCleanup(outside.kill)
        outside.stdout.readline()
        expected = {int(re.search(r"NSpid:\s+(\d+)", text_of(one, "status"))[1]) for one in children_of(outside.pid)}
        script = """syscall::clock_nanosleep:entry /execname == $1/ { self->began = timestamp; }
                    syscall::clock_nanosleep:return /self->began && timestamp - self->began > 9000000/ { @[pid, tid] = count(); self->n++; done += self->n == 10; }
                    syscall::clock_nanosleep:return /done == 20/ { exit(0); }
                    tick-60s { exit(1); }"""
        rows = [[int(word) for word in row] for row in self.rows("-n", script, f'"{sleeper.name}"')]
        self.assertEqual(len(rows), 20, rows)
        self.assertTrue(all(pid == tid < 0 and count >= 10 for pid, tid, count in rows), rows)
        if os.stat("/proc/self/ns/pid").st_ino == 0xeffffffc:  # otherwise these are not the numbers of the initial namespace
            self.assertEqual({-pid for pid, _, _ in rows}, expected)

    def test_ids_of_another_proc_are_refused(self):
        for arguments in (("run", "-n", "tick-1ms { exit(0); }"), ("run", "-n", "tick-1ms { exit(0); }", "-p", "1"), ("list", "syscall:::"), ("detach", "-p", "1")):
            result = subprocess.run(["unshare", "--pid", "--fork", DVM, *arguments], capture_output=True, text=True, env=dvmtest.ENV, timeout=120)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertIn("/proc shows the processes of another PID namespace; mount it with: mount -t proc proc /proc", result.stderr)

    def test_of_another_proc_scripts_can_be_compiled(self):
        foreign = ["unshare", "--pid", "--fork", DVM]
        result = subprocess.run([*foreign, "run", "-e", "-n", "BEGIN { }"], capture_output=True, text=True, env=dvmtest.ENV, timeout=120)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        result = subprocess.run([*foreign, "doctor"], capture_output=True, text=True, env=dvmtest.ENV, timeout=120)
        self.assertRegex(result.stdout, r"(?m)^proc +does not work.*\n?.*/proc shows the processes of another PID namespace")

    def test_its_agents_are_known_outside(self):
        """There the tracer has another number than the agent knows."""
        script = "pid$target:looper:func:entry { @ = count(); }"
        tracer = subprocess.Popen([*CONTAINER, DVM, "run", "-q", "-x", "backend=agent", "-n", script, "-c", program("looper") + " 100 wait"],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dvmtest.ENV)
        self.addCleanup(tracer.communicate)
        self.assertEqual(tracer.stdout.readline(), "ready\n")
        parent = tracer.pid
        for _ in range(2):  # dvm, then looper
            parent = next(child for child in children_of(parent) if text_of(child, "comm") in ("dvm\n", "looper\n"))
        result = dvm("detach", "-p", str(parent))
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, f"process {parent} is traced by process [0-9]+ of its PID namespace, which must end first")
        self.assertIn("100", tracer.communicate("\n", timeout=60)[0].split())

    def test_without_sys(self):
        """As in a bare chroot: probes of processes and timers need nothing from there."""
        script = "pid$target:looper:func:entry { @calls = count(); } profile-997 /pid == $target/ { @[execname] = count(); }"
        result = subprocess.run([*CONTAINER, "sh", "-c", 'mount -t tmpfs none /sys && exec "$@"', "sh", DVM, "run", "-q", "-n", script, "-c", program("looper") + " 30000"],
                                capture_output=True, text=True, env=dvmtest.ENV, timeout=120)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"(?s)\b30000\n.*looper +[1-9]")


if __name__ == "__main__":
    unittest.main()
