#!/usr/bin/env python3
"""Runs every benchmark and prints a table: medians with their spread, peers beside dvm.

usage: run.py BUILD_FOLDER [FILTER [REPETITIONS]]

FILTER is a regular expression over the names of the Google benchmarks (path/, aggregate/, keys/, interp/, compiler/ ...); with one,
the measurements on live programs are left out. A part that fails is named and the others go on; the exit status is then 1.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys

import lifetime  # noqa: F401

if len(sys.argv) < 2:
    sys.exit(__doc__)
BUILD = pathlib.Path(sys.argv[1])
FILTER = sys.argv[2] if len(sys.argv) > 2 else ""
REPETITIONS = int(sys.argv[3]) if len(sys.argv) > 3 else 9
HERE = pathlib.Path(__file__).resolve().parent
UNITS = {"ns": "ns", "us": "us", "ms": "ms", "s": "s"}
SHOWN = ("bytes", "drops", "instructions", "prepared", "probes", "verified")  # counters of Google benchmark that say something

failures = []


def pin():
    """To the last CPU: the first has most of the machine's interrupts."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def google(program):
    """The runs of one program, by name; None: it has no benchmark of that name."""
    command = [program, "--benchmark_format=json", f"--benchmark_repetitions={REPETITIONS}", f"--benchmark_filter={FILTER or '.'}"]
    run = subprocess.run(command, capture_output=True, text=True, preexec_fn=pin)
    if not run.stdout.strip():
        if "Failed to match" not in run.stderr:
            failures.append(f"{program.name}: {run.stderr.strip()}")
        return {}
    runs = {}
    for row in json.loads(run.stdout)["benchmarks"]:
        if row.get("error_occurred"):
            failures.append(f"{row['name']}: {row['error_message']}")
        elif row["run_type"] == "iteration":
            runs.setdefault(row["run_name"], []).append(row)
    return runs


def time_of(row):
    if "ns" in row:
        return row["ns"], "ns"
    is_real = row["run_name"].endswith(("/real_time", "/manual_time"))
    return row["real_time" if is_real else "cpu_time"], UNITS[row["time_unit"]]


def print_google(program):
    runs = google(program)
    if runs:
        print(f"\n{program.name:<46} {'median':>10} {'least':>10} {'most':>10}")
    for name, rows in runs.items():
        times = [time_of(row)[0] for row in rows]
        more = "   ".join(f"{key} {rows[0][key]:g}" for key in SHOWN if key in rows[0])
        print(f"{name:<46} {statistics.median(times):>10.4g} {min(times):>10.4g} {max(times):>10.4g} {time_of(rows[0])[1]:<3} {more}")
    sys.stdout.flush()


def run(title, command):
    print(f"\n{title}", flush=True)
    if subprocess.run(command).returncode != 0:
        failures.append(" ".join(map(str, command)))


def main():
    programs = sorted(p for p in BUILD.glob("bench/*/*bench*") if p.is_file() and os.access(p, os.X_OK))
    if not programs:
        sys.exit(f"no benchmarks in {BUILD}: configure with -DDVM_BENCH=ON")
    for program in programs:
        print_google(program)
    if not FILTER:
        run("whole commands, beside bpftrace and gdb", [sys.executable, HERE / "commands.py", BUILD / "cmd/dvm", BUILD / "tests/programs"])
        run("goals of an agent, beside stubs written by hand, bpftrace and other tracers", [sys.executable, HERE / "agent_goals.py", BUILD / "cmd/dvm"])
        for program in sorted(BUILD.glob("bench/runtime/firing_*")):
            if program.is_file() and os.access(program, os.X_OK):
                run(f"{program.name}: in the traced thread", [program])
    for failure in failures:
        print(f"run.py: failed: {failure}", file=sys.stderr)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
