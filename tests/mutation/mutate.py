#!/usr/bin/env python3
"""Changes the source in one place at a time, in a copy of the tree, and tells which tests notice.

usage: mutate.py --tree COPY [--build FOLDER] [--first] [--equivalent] [PATTERN...]

  --tree COPY     a folder outside this tree, of this program alone; made if it is not there, otherwise brought up to date
  --build FOLDER  build folder in COPY (default build/mutation); configured if it is not there
  --first         run only the first of the suites of each mutant, which is the quickest
  --equivalent    run those that are marked as equivalent too: a test that notices one refutes the mark
  PATTERN         only mutants whose file or text holds one of these

Mutants stand in mutants.txt (README.md says how). Exits with 1 if one survived, did not build or is no longer found.
"""

import argparse
import dataclasses
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TABLE = HERE / "mutants.txt"
MARK = ".dvm-mutants"  # in a folder that this program has made: no other is written to
CONFIGURE = ["-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_CXX_FLAGS_DEBUG=-O0", "-DDVM_BENCH=OFF", "-DDVM_PRECOMPILE=ON"]
TEST_CPU_SECONDS = 90  # a mutant may never end, by spinning
TEST_SECONDS = 900     # or by waiting; long, since a busy machine does not make a test fail
TEST_BYTES = 16 << 30  # it may take all memory, too
OTHER_TESTS = {"conformance": "conformance/conformance_test", "golden": "golden/compiler_golden_test", "contexts_test": "contexts/contexts_test"}
SANITIZED = "contexts_test"
AGENT_TESTS = ("address_space_test", "agent_watches_test", "arena_reader_test", "breakpoint_test", "clause_code_test", "clause_records_test", "detach_test", "fault_sites_test", "file_data_test", "frame_rows_test", "handler_watch_test", "jump_locks_test", "lane_reader_test", "lasting_memory_test", "late_reads_test", "late_updates_test", "other_jumps_test", "placed_probes_test", "record_program_test", "semaphores_test", "signal_frames_test", "site_code_test", "unfit_sites_test",
               "steady_memory_test", "steady_reader_test", "stopped_process_test", "stack_finder_test", "thread_clock_test",
               "thread_records_test", "unstopped_test", "unwinder_test", "watched_calls_test")
CODE_TESTS = ("displaced_test", "flags_use_test", "module_code_test", "tail_exits_test")
UNIT_TESTS = {"runtime_test": "runtime", "globals_test": "runtime", "export_test": "export", "agent_ways_test": "runtime", "vm_test": "vm", "llvm_test": "vm", "compiler_test": "compiler",
              **dict.fromkeys(("capture_test", "record_test", "recording_test", "seize_test"), "instrument"), **dict.fromkeys(AGENT_TESTS, "instrument"),
              **dict.fromkeys(CODE_TESTS, "code")}


@dataclasses.dataclass
class Mutant:
    line: int
    file: str
    suites: list
    old: str = ""
    new: str = ""
    reason: str = ""  # why no test can notice

    def title(self):
        return f"{self.file}: {' '.join(self.old.split())} -> {' '.join(self.new.split()) or 'nothing'}"


class TableError(Exception):
    pass


def read_table(text):
    """The mutants of a table, in the form that README.md gives."""
    mutants, file, suites, side = [], "", [], ""
    for number, line in enumerate(text.splitlines(), 1):
        kind, _, rest = line.partition(" ")
        last = mutants[-1] if mutants else None
        if not line or kind == "#":
            side = ""
        elif line.startswith(" ") and side:  # the text above goes on
            setattr(last, side, getattr(last, side) + "\n" + line)
        elif kind == "file":
            file, suites = rest, []
        elif kind == "tests":
            suites = rest.split()
        elif kind == "-" and file and suites:
            mutants.append(Mutant(number, file, suites, rest))
            side = "old"
        elif kind == "+" and side == "old":
            last.new, side = rest, "new"
        elif kind == "=" and side == "new" and rest:
            last.reason, side = rest, ""
        else:
            raise TableError(f"line {number}: {line!r}")
    return mutants


def mutated(text, mutant):
    """The text with the mutant in it. A text that is not there exactly once is an error."""
    found = text.count(mutant.old)
    if found != 1 or mutant.old == mutant.new:
        raise TableError(f"line {mutant.line}: {mutant.title()}: found {found} times")
    return text.replace(mutant.old, mutant.new)


def limit_resources(command):
    if SANITIZED not in command[0].parts:  # the shadow of ThreadSanitizer alone is larger
        resource.setrlimit(resource.RLIMIT_AS, (TEST_BYTES, TEST_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (TEST_CPU_SECONDS, TEST_CPU_SECONDS))


class Copy:
    """The tree that is changed, and what is built and run in it."""

    def __init__(self, tree, build):
        self.tree = pathlib.Path(tree).resolve()
        self.build = self.tree / build
        if self.tree == ROOT or ROOT in self.tree.parents:
            raise SystemExit(f"{self.tree} lies in the tree that this program belongs to")
        if self.tree.exists() and any(self.tree.iterdir()) and not (self.tree / MARK).exists():
            raise SystemExit(f"{self.tree} was not made by this program: it has no {MARK}")

    def update(self):
        """Copies what differs, so that only this is built anew."""
        self.tree.mkdir(parents=True, exist_ok=True)
        (self.tree / MARK).touch()
        listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True, check=True)
        for name in filter(None, listed.stdout.decode().split("\0")):
            ours, theirs = ROOT / name, self.tree / name
            if ours.is_file() and not (theirs.is_file() and theirs.read_bytes() == ours.read_bytes()):
                theirs.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ours, theirs)
                shutil.copymode(ours, theirs)
        if not (self.build / "build.ninja").exists():
            subprocess.run(["cmake", "-S", self.tree, "-B", self.build, *CONFIGURE], check=True)

    def builds(self, suite):
        program = suite if suite in UNIT_TESTS else pathlib.Path(OTHER_TESTS.get(suite, "")).name
        targets = [program] if program else ["dvm", "tests/programs/all"]
        return subprocess.run(["ninja", "-C", self.build, *targets], stdout=subprocess.DEVNULL).returncode == 0

    def passes(self, suite):
        if suite in UNIT_TESTS:
            return self.run([self.build / "tests/unit" / UNIT_TESTS[suite] / suite])
        if suite in OTHER_TESTS:
            return self.run([self.build / "tests" / OTHER_TESTS[suite]])
        kind, _, names = suite.partition(":")
        if kind == "scenarios":
            return self.run([pathlib.Path(sys.executable), "-m", "unittest", *names.split(",")], self.tree / "tests/runtime")
        topics = names.split(",") if names else []
        return self.run([pathlib.Path(sys.executable), "run_scripts.py", *topics], self.tree / "tests/runtime")

    def run(self, command, folder=None):
        environment = dict(os.environ, DVM=str(self.build / "cmd/dvm"), DVM_PROGRAMS=str(self.build / "tests/programs"),
                           PYTHONPATH=str(self.tree / "tests/runtime"))
        with subprocess.Popen(command, cwd=folder or self.tree, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, start_new_session=True, preexec_fn=lambda: limit_resources(command)) as process:
            try:
                return process.wait(TEST_SECONDS) == 0
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return False

    def verdict(self, suites):
        """`killed by SUITE`, `survived` or `does not build`."""
        for suite in suites:
            if not self.builds(suite):
                return "does not build"
            if not self.passes(suite):
                return f"killed by {suite}"
        return "survived"

    def judge(self, mutant):
        """Puts the mutant in, asks the tests, and takes it out again."""
        path = self.tree / mutant.file
        original = path.read_text()
        try:
            path.write_text(mutated(original, mutant))
            return self.verdict(mutant.suites)
        finally:
            path.write_text(original)


def is_good(mutant, verdict):
    return verdict == "survived" if mutant.reason else verdict.startswith("killed")


def arguments():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1])
    parser.add_argument("--tree", required=True)
    parser.add_argument("--build", default="build/mutation")
    parser.add_argument("--first", action="store_true")
    parser.add_argument("--equivalent", action="store_true")
    parser.add_argument("patterns", nargs="*")
    return parser.parse_args()


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that the mutant is taken out again
    given = arguments()
    mutants = [m for m in read_table(TABLE.read_text())
               if (given.equivalent or not m.reason) and (not given.patterns or any(p in m.title() for p in given.patterns))]
    if given.first:
        for mutant in mutants:
            mutant.suites = mutant.suites[:1]
    copy = Copy(given.tree, given.build)
    copy.update()
    suites = sorted({suite for mutant in mutants for suite in mutant.suites})
    unchanged = copy.verdict(suites)
    if unchanged != "survived":
        raise SystemExit(f"without any mutant: {unchanged}")
    bad = 0
    for mutant in mutants:
        verdict = copy.judge(mutant)
        bad += not is_good(mutant, verdict)
        print(f"{verdict:24} {mutant.title()}", flush=True)
    print(f"{len(mutants) - bad} of {len(mutants)} as they should be")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
