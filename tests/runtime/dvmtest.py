"""Common parts of the end-to-end tests: paths of dvm and of traced programs, running them, and skipping with a reason."""

import concurrent.futures
import functools
import os
import pathlib
import pty
import re
import resource
import shutil
import struct
import subprocess
import tempfile
import time
import unittest

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
DVM = os.environ.get("DVM", str(ROOT / "build/release/cmd/dvm"))
PROGRAMS = os.environ.get("DVM_PROGRAMS", str(ROOT / "build/release/tests/programs"))
SANITIZED = os.environ.get("DVM_SANITIZED") == "1"

# Leak checking needs ptrace, which a child stopped at its start does not share.
ENV = dict(os.environ, TZ="UTC", LC_ALL="C", ASAN_OPTIONS="detect_leaks=0:" + os.environ.get("ASAN_OPTIONS", ""))


def program(name):
    return os.path.join(PROGRAMS, name)


def million_keys():
    """A script that makes an aggregation @ with a million keys in about a thousand firings, and then @done; it prints neither at its end."""
    return ("BEGIN { i = 0; } tick-1ms /i < 1000000/ { " + 500 * "@[i++] = count(); " + "} tick-1ms /i >= 1000000/ { @done = count(); } "
            "END { trunc(@); trunc(@done); }")


def memory_functions():
    """Functions of the C library that an agent watches because they may take away memory of dvm's."""
    table = (ROOT / "runtime/agent/inside/memory_functions.def").read_text()
    return re.findall(r"(?m)^DVM_MEMORY_FUNCTION\((\w+),", table)


def dvm(*args, timeout=300, cwd=None, stdin=subprocess.DEVNULL, env=None):
    """Runs dvm to its end; the result has returncode, stdout, stderr."""
    return subprocess.run([DVM, *args], capture_output=True, text=True, errors="replace", timeout=timeout, cwd=cwd,
                          stdin=stdin, env=env or ENV)


def without_slowness(text):
    """For programs that fire again and again, where it does not matter."""
    return re.sub(r"dvm: dvm was too slow: .*\n", "", text)


def without_neighbours(text):
    """For tests beside those that trace by an agent, which keeps uprobes that follow forks out of the linker's code."""
    return re.sub(r"dvm: only libraries that process \d+ itself opens are noticed: .*\n", "", text)


def dvm_in_time(*args):
    """Runs dvm, and again if the machine was so busy that a process has waited for its probes in vain."""
    for _ in range(5):
        result = dvm(*args)
        if "dvm was too slow" not in result.stderr:
            break
    return result


def together(function, cases):
    """The function's results for all of the cases, called at the same time: for commands that mostly wait."""
    with concurrent.futures.ThreadPoolExecutor(len(cases)) as pool:
        return list(pool.map(function, cases))


def eventually(condition, patience=30):
    """Whether the condition holds before so many seconds end: a loaded machine is slow, not wrong."""
    deadline = time.monotonic() + patience
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True


def privilege_missing_for(what, prefix=(), path=None):
    """Why a command that begins with prefix may not use "uprobes" or "breakpoints"; None if it may. dvm is not asked: a fault of
    dvm's is no missing privilege."""
    answer = subprocess.run([*prefix, path or program("tracing_privilege"), what], capture_output=True, text=True, check=True)
    return answer.stdout.strip() or None


def cpu_time_of_children():
    """Seconds, of those that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def has_llvm():
    """Whether the engine llvm is available."""
    return "not here" not in dvm("--version").stdout


def missing_privilege():
    """Why kernel uprobes cannot be used here; None if they can."""
    return "needs root for kernel uprobes" if os.geteuid() != 0 else privilege_missing_for("uprobes")


def skip_or_fail(test, reason):
    """Skips, or fails where every test must run."""
    if os.environ.get("DVM_NO_SKIP"):
        test.fail("skipped: " + reason)
    test.skipTest(reason)


def own_folder(test):
    """A folder that lasts as long as the test."""
    folder = tempfile.TemporaryDirectory()
    test.addCleanup(folder.cleanup)
    return pathlib.Path(folder.name)


@functools.cache
def _copies():
    return tempfile.TemporaryDirectory()


def copy_of_dvm(folder):
    """dvm in a folder that users may look into. With sanitizers it is large, so all copies of a test are one file."""
    first = os.path.join(_copies().name, "dvm")
    if not os.path.exists(first):
        shutil.copy(DVM, first)
    path = os.path.join(folder, "dvm")
    try:
        os.link(first, path)
    except OSError:  # another file system
        shutil.copy(DVM, path)
    return path


def errors_on_terminal(test, *words, stdout=subprocess.DEVNULL, env=None):
    """What a command prints on standard error, which is a terminal, and its result."""
    terminal, end = pty.openpty()
    test.addCleanup(os.close, terminal)
    with os.fdopen(end, "wb") as stderr:
        result = subprocess.run(words, stdout=stdout, stderr=stderr, stdin=subprocess.DEVNULL, text=True, env=env or ENV, timeout=300)
        said = os.read(terminal, 4096).decode()
    test.assertEqual(result.returncode, 0, said)
    return said, result


def start_tracer(test, text, *options, command=(DVM,)):
    """dvm with the program, once its probes are on: BEGIN has printed "live". It ends with the test."""
    tracer = subprocess.Popen([*command, "run", "-q", *options, "-n", 'BEGIN { printf("live\\n"); } ' + text], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env=ENV)
    test.addCleanup(tracer.communicate)
    test.addCleanup(tracer.kill)
    test.assertEqual(tracer.stdout.readline(), "live\n")
    return tracer


class FolderTest(unittest.TestCase):
    """A test with a folder of its own, for files that it writes."""

    def setUp(self):
        super().setUp()
        self.folder = own_folder(self)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return str(path)


class PrivilegedTest(unittest.TestCase):
    """A test that needs root and uprobes."""

    reason = False

    def setUp(self):
        if PrivilegedTest.reason is False:
            PrivilegedTest.reason = missing_privilege()
        if PrivilegedTest.reason:
            skip_or_fail(self, PrivilegedTest.reason)


class Text:
    """The instructions of a mapped file whose path has this part, in the process and in the file."""

    def __init__(self, pid, part, protection="r-xp"):
        self.pid = pid
        with open(f"/proc/{pid}/maps") as maps:
            line = next(line.split() for line in maps if part in line and protection in line.split()[1])
        self.path = line[5]
        self.begin, end = (int(address, 16) for address in line[0].split("-"))
        with open(self.path, "rb") as file:
            file.seek(int(line[2], 16))
            self.original = file.read(end - self.begin)
            self.code_size = self.size_of_segment(file, int(line[2], 16))

    @staticmethod
    def size_of_segment(file, offset):
        file.seek(0)
        header = file.read(64)
        file.seek(struct.unpack_from("<Q", header, 32)[0])
        segments = [struct.unpack("<IIQQQQQQ", file.read(56)) for _ in range(struct.unpack_from("<H", header, 56)[0])]
        return max(begin + size - offset for kind, _, begin, _, _, size, _, _ in segments if kind == 1 and begin // 4096 * 4096 == offset)

    def now(self):
        with open(f"/proc/{self.pid}/mem", "rb") as memory:
            memory.seek(self.begin)
            return memory.read(len(self.original))

    def changed(self):
        return self.now() != self.original

    def changed_bytes(self):
        return [now for now, before in zip(self.now()[:self.code_size], self.original) if now != before]

    def has_jump(self):
        """Of an agent. Other instructions of dvm's lie behind the code for a moment while it maps the agent."""
        return any(now in (0xE9, 0xEB) and now != before for now, before in zip(self.now()[:self.code_size], self.original))

    def has_breakpoint(self):
        return any(now == 0xCC != before for now, before in zip(self.now(), self.original))


def numbers(text):
    return [int(n) for n in re.findall(r"-?\d+", text)]
