#!/usr/bin/env python3
"""Runs published scripts on live programs and checks that they print plausible rows.

usage: run.py [--seconds N] [--keep FOLDER] [--backend NAME] FOLDER [PART-OF-A-PATH...]     with DVM=path of dvm

The folder holds a published collection, such as the DTraceToolkit; none of it is kept here. A script runs by the name dtrace, as its first
line says, and a shell script that calls dtrace with its options of commands.py. programs.py decides what runs beside it: a shell that
starts commands, an interpreter or server with the markers of the provider, or a stand-in, which the line then says. rows.py knows the
rows of each script. It is interrupted after some seconds. One line each:

  ok       it printed plausible rows, and nothing else was reported
  ROWS     it printed rows, but none that is plausible
  EMPTY    it printed no row
  FAULTS   clauses ended with faults
  FAILED   it does not compile, or dvm ended with an error
  kernel   it needs the kernel of another system, as dvm's message says
  absent   a probe of it is not there
  other    it prints what docs/dtrace-differences.md says, not what it printed on Solaris
  skipped  it cannot be tried

The last lines count them. The exit status is 1 if a script failed.
"""

import argparse
import collections
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

import commands
import programs
import rows
from not_here import BROKEN, FAULTY, NOT_HERE, OTHERWISE, UNTRIED, needs
from scripts import arguments_of, flags_of, providers_of

DVM = os.path.abspath(os.environ.get("DVM", pathlib.Path(__file__).parent.parent.parent / "build/release/cmd/dvm"))
INTERRUPTED = "interrupted before it could trace: a slow build, or a busy machine"
FAULT = re.compile(r"error in dt_clause|error on enabled probe")


class Run:
    """What a script printed, and how it ended."""

    def __init__(self, words, seconds, environment):
        tracer = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                                  env=environment, start_new_session=True,
                                  preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # a shell ignores it in the background
        self.ended = True
        try:
            self.out, self.err = tracer.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(tracer.pid, signal.SIGINT)
            self.out, self.err = self.rest(tracer)
        self.status = tracer.returncode

    def rest(self, tracer):
        try:
            return tracer.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.ended = False
            os.killpg(tracer.pid, signal.SIGKILL)
            return tracer.communicate()

    def keep(self, folder, name):
        (folder / f"{name}.out").write_text(self.out)
        (folder / f"{name}.err").write_text(self.err)


class Driver:
    def __init__(self, given, folder):
        self.given, self.folder = given, folder
        (folder / "dtrace").symlink_to(DVM)
        self.environment = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}", "DTRACE": str(folder / "dtrace")}
        if given.backend:
            self.environment["DTRACE_OPT_BACKEND"] = given.backend

    def words_of(self, path, text, pid):
        """How the script is called."""
        words = [str(self.folder / "dtrace"), "-Z", *self.given.option, *flags_of(text), "-s", str(path)]
        if "$target" in text or providers_of(text) & set(programs.WORKLOADS):
            words += ["-p", str(pid)]
        return words + arguments_of(text, pid)

    def calls(self, path, text, pid):
        """The ways in which the script is called: words, and what rows.py knows each by."""
        if commands.is_command(text):
            return commands.calls(path, text, pid, self.folder)
        return [(path.name, self.words_of(path, text, pid))]

    def judge(self, name, words, run):
        if not run.ended:
            return "FAILED", "it does not end"
        if run.status == -signal.SIGINT and not run.out and not run.err:
            return "FAILED", INTERRUPTED
        if reason := needs(run.err):
            return "kernel", reason
        if run.status not in (0, -signal.SIGINT):
            return "FAILED", (run.err.splitlines() or [f"status {run.status}"])[0 if "failed to compile" in run.err else -1]
        faults = [line for line in run.err.splitlines() if FAULT.search(line)]
        if faults and (reason := OTHERWISE.get(name.split()[0])):
            return "other", reason
        if faults and name.split()[0] not in FAULTY:
            return "FAULTS", f"{len(faults)}: {faults[0]}"
        return self.judge_rows(name, words, run)

    def example_of(self, name):
        """What a collection like the DTraceToolkit publishes of the script's output; an empty text if it is called with options."""
        examples = self.given.folder.rglob(f"Examples/{name.removesuffix('.d')}_example.txt")
        return "".join(path.read_text(errors="replace") for path in examples)

    def judge_rows(self, name, words, run):
        verdict, why = rows.judge(name, run.out + run.err, self.example_of(name))
        if verdict != "ok" and (reason := OTHERWISE.get(name.split()[0])):
            return "other", reason
        if verdict != "ok" and (probe := self.unmatched(words)):
            return "absent", f"there is no {probe}"
        return verdict, why

    def unmatched(self, words):
        """A probe of the script that the program beside it does not have, or None. A command would run."""
        if words[0] != str(self.folder / "dtrace"):
            return None
        ran = subprocess.run([words[0], "-e", *(word for word in words[1:] if word != "-Z")], stdin=subprocess.DEVNULL, capture_output=True,
                             text=True, errors="replace", env=self.environment)
        found = re.search(r"(?:probe description (\S+) does not match|failed to lookup (\S+ in module \S+)|has no tracepoint for (\S+))", ran.stderr)
        return found and (found[1] or found[2] or found[3])

    def refusal(self, path, text):
        """What the script needs that is not here, by dvm's message about all of its probes; None if it compiles or fails for another reason."""
        if commands.is_command(text):
            return f"{', '.join(sorted(providers_of(text) & NOT_HERE))}: not a provider of programs"
        words = [word for word in self.words_of(path, text, os.getpid()) if word != "-Z"]
        return needs(subprocess.run([words[0], "-e", *words[1:]], capture_output=True, text=True, errors="replace", env=self.environment).stderr)

    def run_beside(self, choice, path, text):
        with programs.Workload(choice) as pid:
            for name, words in self.calls(path, text, pid):
                seconds = self.given.seconds * rows.PATIENCE.get(path.name, programs.PATIENCE.get(choice.language, 1))
                run = Run(words, seconds, self.environment)
                verdict, why = self.judge(name, words, run)
                if why == INTERRUPTED or verdict in ("ROWS", "EMPTY"):  # a busy machine
                    run = Run(words, 5 * seconds, self.environment)
                    verdict, why = self.judge(name, words, run)
                if self.given.keep:
                    run.keep(self.given.keep, name)
                yield name, verdict, why + (f" (a stand-in for {choice.stands_in_for})" if choice.stands_in_for else "")

    def check(self, path):
        """Name, verdict and reason of each way in which the script is called."""
        text = path.read_text(errors="replace")
        if providers_of(text) & NOT_HERE and (reason := self.refusal(path, text)):
            return [(path.name, "kernel", reason)]
        left_out = BROKEN | UNTRIED
        if path.name in left_out:
            return [(path.name, "skipped", left_out[path.name])]
        with tempfile.TemporaryDirectory() as folder:
            if commands.is_command(text) and not commands.shell_of(text):
                return [(path.name, "skipped", "its shell is not installed")]
            choice = programs.choose(path.name, providers_of(text), DVM, pathlib.Path(folder))
            if not choice.words:
                return [(path.name, "skipped", choice.reason)]
            return list(self.run_beside(choice, path, text))


def is_script(path):
    if not path.is_file() or path.is_symlink():
        return False
    return path.suffix == ".d" or (not path.suffix and commands.is_command(path.read_text(errors="replace")))


def print_counts(verdicts):
    """The table: how many of which verdict, and the reasons of those that did not run."""
    print(f"\n{len(verdicts)} runs: " + ", ".join(f"{n} {word}" for word, n in collections.Counter(word for word, _ in verdicts).most_common()))
    stand_ins = sum(word == "ok" and "stand-in" in why for word, why in verdicts)
    print(f"{stand_ins} of those that are ok ran on stand-ins")
    reasons = collections.Counter((word, why) for word, why in verdicts if word in ("kernel", "absent", "other", "skipped"))
    for (word, why), number in sorted(reasons.items(), key=lambda item: (item[0][0], -item[1])):
        print(f"  {number:4} {word:8} {why}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=4, help="how long each script runs (default 4)")
    parser.add_argument("--keep", type=pathlib.Path, help="keep what each script printed in this folder")
    parser.add_argument("--backend", help="the backend of all scripts, such as agent")
    parser.add_argument("--option", action="append", default=[], help="one more option of dtrace, such as -v")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("part", nargs="*", help="run only scripts whose path contains one of these")
    given = parser.parse_args()
    if given.keep:
        given.keep.mkdir(parents=True, exist_ok=True)
    verdicts = []
    with tempfile.TemporaryDirectory() as folder:
        driver = Driver(given, pathlib.Path(folder))
        for path in sorted(filter(is_script, given.folder.rglob("*"))):
            if given.part and not any(part in str(path) for part in given.part):
                continue
            for name, verdict, why in driver.check(path):
                verdicts.append((verdict, why))
                print(f"{verdict:8} {path.relative_to(given.folder).parent / name}: {why}", flush=True)
    print_counts(verdicts)
    sys.exit(1 if any(verdict == "FAILED" for verdict, _ in verdicts) else 0)


if __name__ == "__main__":
    main()
