"""Libraries that a process opens while an agent traces it without BPF: it waits until their probes are on, but not for a dvm that is stopped."""

import ctypes
import os
import pathlib
import platform
import re
import shutil
import signal
import statistics
import subprocess
import time
import unittest

import dvmtest
from dvmtest import ENV, program

AS_NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all")
LIBRARY = str(pathlib.Path(program("late")).parent / "liblate_library.so")
PATIENCE = 60
EIGHT = "dvm was too slow: 8 times a process has continued before probes of files that it had mapped were enabled"
# Opens the library, forbids nothing by a filter of its system calls, and opens it thrice.
FILTERS = """
import _ctypes, ctypes, struct, sys
def open_it():
    library = ctypes.CDLL(sys.argv[1])
    library.late_function(1)
    _ctypes.dlclose(library._handle)
def say_and_wait():
    print(flush=True)
    sys.stdin.readline()
libc, kept = ctypes.CDLL(None), ctypes.CDLL(sys.argv[1])
say_and_wait()
_ctypes.dlclose(kept._handle)
allow = ctypes.create_string_buffer(struct.pack("HBBI", 0x06, 0, 0, 0x7fff0000))
libc.prctl(38, 1, 0, 0, 0)
libc.prctl(22, 2, struct.pack("HxxxxxxQ", 1, ctypes.addressof(allow)))
for _ in range(3):
    open_it()
say_and_wait()
"""
# Opens each library in turn, calls its function thrice, and says where that lies.
TAKES_TURNS = """
import _ctypes, ctypes, sys
for path in sys.argv[1:]:
    library = ctypes.CDLL(path)
    for _ in range(3):
        library.late_function(1)
    print(ctypes.cast(library.late_function, ctypes.c_void_p).value, flush=True)
    _ctypes.dlclose(library._handle)
"""
KERNEL = tuple(map(int, re.findall(r"\d+", platform.release())[:2]))
PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 17, 0x4206, 0x4207
COUNT = "pid$target:liblate*:late_function:entry { @ = count(); }"


class Loads(unittest.TestCase):
    def setUp(self):
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            dvmtest.skip_or_fail(self, "needs root, to become a user")
        self.folder = dvmtest.own_folder(self)
        os.chmod(self.folder, 0o755)
        dvmtest.copy_of_dvm(self.folder)
        for file in (program("late"), program("renewed"), LIBRARY):
            shutil.copy(file, self.folder)

    def start(self, *words, **options):
        return subprocess.Popen(words, text=True, cwd=self.folder, env=ENV, stdout=subprocess.PIPE, **options)

    def counted(self, script=COUNT, way="", prefix=AS_NOBODY, options=()):
        """What dvm says of a program that opens the library four times, after its count of twelve calls."""
        slow = os.environ.get("DVM_SANITIZED") == "1"  # then some opening may be over before dvm sees it
        for _ in range(5):  # on a busy machine dvm may be too slow
            tracer = self.start(*prefix, "./dvm", "run", "-q", "-Z", *options, "-n", script, "-c", f"./late ./liblate_library.so 3 4 {way}", stderr=subprocess.PIPE)
            out, err = tracer.communicate(timeout=PATIENCE)
            if "dvm was too slow" not in err and not (slow and out.split()[4:] != ["12"]):
                break
        self.assertEqual(out.split()[4:], ["12"], err)
        return err

    def test_each_call_is_counted(self):
        self.assertEqual(self.counted(), "")

    def test_in_namespaces_of_their_own(self):
        """By dlmopen(). Only glibc 2.35 and later says to tracers that such a library is mapped."""
        if tuple(map(int, platform.libc_ver()[1].split("."))) < (2, 35):
            dvmtest.skip_or_fail(self, "an older glibc")
        self.assertEqual(self.counted(way="apart"), "")
        self.assertEqual(dvmtest.without_neighbours(self.counted(way="apart", prefix=(), options=("-x", "backend=uprobe"))), "")

    def test_by_breakpoints_that_an_agent_has_refused(self):
        """Each time at another address: the agent places its probe again, and the breakpoint moves."""
        self.assertEqual(self.counted(way="moved"), "")
        self.assertRegex(self.counted(COUNT.replace("{ @", "{ n += fds[1].fi_oflags; @"), way="moved"), "^dvm: without BPF, firings at breakpoints .*\n$")

    def test_breakpoints_do_not_fire_in_a_library_that_replaces_theirs(self):
        """Another one is mapped where the first was, and then the first again."""
        shutil.copy(LIBRARY, self.folder / "other.so")
        (self.folder / "takes_turns.py").write_text(TAKES_TURNS)
        target = "/usr/bin/python3 takes_turns.py ./liblate_library.so ./other.so ./liblate_library.so"
        for _ in range(5):
            tracer = self.start(*AS_NOBODY, "./dvm", "run", "-q", "-n", COUNT.replace("{ @", "{ n += fds[1].fi_oflags; @"), "-Z", "-c", target, stderr=subprocess.PIPE)
            out, err = tracer.communicate(timeout=PATIENCE)
            if "dvm was too slow" not in err:
                break
        *places, count = out.split()
        self.assertEqual([len(places), len(set(places)), count], [3, 1, "6"], err)

    def test_beside_a_uprobe_in_the_linker(self):
        """It lies where the linker reports files. The agent watches behind the calls of that function."""
        other = self.start("./renewed", "lines", "1", stdin=subprocess.PIPE)
        self.addCleanup(other.communicate)
        dvmtest.start_tracer(self, "pid$target:no_library*::entry { }", "-Z", "-x", "backend=uprobe", "-x", "followfork", "-p", str(other.pid))
        self.assertEqual(self.counted(), "")

    def test_beside_another_agent(self):
        """The first has its jump where the linker reports files, the second one behind the calls of that function, and the third says so.
        Threads do not wait for the second, which cannot watch for filters of system calls. That counts."""
        target = self.started(*AS_NOBODY, "./renewed", "open", "./liblate_library.so")
        none, nobody = COUNT.replace("late_function", "no_function"), (*AS_NOBODY, self.folder / "dvm")
        tracers = [dvmtest.start_tracer(self, script, "-x", "backend=agent", "-Z", "-p", str(target.pid), command=nobody) for script in (none, COUNT, none)]
        self.take_turns(target, range(4))
        results = []
        for one in tracers:
            one.terminate()
            results.append(one.communicate(timeout=PATIENCE))
        out, err = results[1]
        late = sum(map(int, re.findall(r"dvm was too slow: (\d+) time", err)))
        self.assertGreaterEqual(int(out.split()[-1]) + 10 * late, 40, err)
        self.assertIn("are not noticed in time: its dynamic linker cannot be watched", results[2][1])

    def started(self, *words):
        target = self.start(*words, stdin=subprocess.PIPE, bufsize=1)
        self.addCleanup(target.communicate)
        self.addCleanup(target.kill)
        self.assertEqual(target.stdout.readline().strip("0"), "\n")
        return target

    def traced(self, *as_user, options=(), command=("./renewed", "open", "./liblate_library.so")):
        """A process that opens the library once in each turn, and dvm, which has placed its probe."""
        target = self.started(*as_user, *command)
        tracer = self.start(*as_user, "./dvm", "run", "-q", "-Z", "-n", 'tick-10ms { printf("on\\n"); } ' + COUNT, "-x", "switchrate=10ms", *options,
                            "-p", str(target.pid), stderr=subprocess.PIPE)
        self.addCleanup(tracer.communicate)
        self.addCleanup(tracer.kill)
        line = tracer.stdout.readline()
        while line == "\n":
            line = tracer.stdout.readline()
        self.assertEqual(line, "on\n", line or tracer.stderr.read())
        return target, tracer

    def take_turns(self, target, turns):
        """Returns the seconds of each."""
        seconds = []
        for turn in turns:
            began = time.monotonic()
            target.stdin.write("\n")
            self.assertEqual(target.stdout.readline(), f"{10 * (turn + 1)}\n")
            seconds.append(time.monotonic() - began)
        return seconds

    def told_of_turns_without(self, *as_user, options=(), ends=False):
        """What dvm says of eight turns in which it was stopped. The process waits in the first one only."""
        target, tracer = self.traced(*as_user, options=options)
        tracer.send_signal(signal.SIGSTOP)
        seconds = self.take_turns(target, range(8))
        self.assertLess(statistics.median(seconds), 0.2)  # a thread that waits does so for at least as long
        if ends:
            target.kill()
            target.wait()
        tracer.send_signal(signal.SIGCONT)
        if not ends:
            time.sleep(0.1)
            tracer.terminate()
        return tracer.communicate(timeout=PATIENCE)[1]

    def test_what_was_opened_while_dvm_was_stopped_is_told_of(self):
        self.assertIn(EIGHT, self.told_of_turns_without(*AS_NOBODY))

    def test_it_is_told_of_a_process_that_has_ended(self):
        self.assertIn(EIGHT, self.told_of_turns_without(*AS_NOBODY, ends=True))

    @unittest.skipIf(KERNEL < (6, 9), "BPF programs of this kernel have no loops that wait")
    def test_it_is_told_by_uprobes(self):
        self.assertIn(EIGHT, self.told_of_turns_without(options=("-x", "backend=uprobe")))

    def test_a_process_that_may_not_wait_is_told_of(self):
        """The agent makes no system calls any more, and its probes cannot be placed again."""
        target, tracer = self.traced(*AS_NOBODY, command=("/usr/bin/python3", "-c", FILTERS, "./liblate_library.so"))
        target.stdin.write("\n")
        target.stdout.readline()
        tracer.terminate()
        self.assertIn("dvm was too slow: 3 times a process has continued", tracer.communicate(timeout=PATIENCE)[1])

    def test_a_refusal_while_the_process_waits_is_told_of(self):
        """Another tracer keeps dvm from the process for a turn."""
        target, tracer = self.traced(*AS_NOBODY)
        libc = ctypes.CDLL(None)
        self.assertEqual(libc.ptrace(PTRACE_SEIZE, target.pid, 0, 0), 0)
        self.take_turns(target, range(2))
        libc.ptrace(PTRACE_INTERRUPT, target.pid, 0, 0)
        os.waitpid(target.pid, 0x40000000)  # __WALL
        libc.ptrace(PTRACE_DETACH, target.pid, 0, 0)
        tracer.terminate()
        out, err = tracer.communicate(timeout=PATIENCE)
        self.assertEqual(out.split()[-1], "10")
        self.assertRegex(err, r"process \d+: its probes, such as late_function, could not be enabled before it continued: .*; firings until they are enabled again are lost")


if __name__ == "__main__":
    unittest.main()
