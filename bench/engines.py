#!/usr/bin/env python3
"""Times firings and DIF on each engine beside the same in C++, in one run, and prints a row for each case with the goal of llvm.

usage: engines.py BUILD_FOLDER [REPETITIONS]

Cells: median, and in brackets the quartiles, in ns unless the goal has another unit. The engines take turns, so that a busy moment of
the machine falls on all. The last cell of a row is the median of llvm by that of C++. translation_delay prints the last lines: what
translation adds to the delay of firings. The machine should be otherwise idle.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys

import lifetime  # noqa: F401
from measuring import spread

# Case, the goal of llvm, and what it measures.
CASES = [("clause/predicate", "2 ns", "/arg0 == 0/, which does not hold"), ("clause/count", "6 ns", "@ = count()"),
         ("clause/quantize", "8 ns", "@ = quantize(arg0)"), ("clause/string", "30 ns", "@[copyinstr(arg1)] = count(), one key"),
         ("clause/strings", "", "the same, 64 keys in turn"),
         ("clause/latency", "8 ns", "quantize(timestamp - self->t)"), ("clause/printf", "20 ns", "a record of five integers"),
         ("arithmetic", "1.2 C++", "512 instructions, ns"), ("branches", "1.2 C++", "64 additions behind branches, ns"),
         ("translate/five", "15 ms", "planning and preparing five clauses, CPU time")]
ENGINES = ("interp", "llvm", "c")


def names(case):
    """By engine, the benchmark of a case. DIF by itself stands behind its engine, without an account."""
    if "/" in case:
        return {engine: f"{case}/{engine}" for engine in ENGINES}
    return {engine: f"{engine}/{case}" + ("" if engine == "c" else "/none") for engine in ENGINES}


def runs(program, wanted):
    """The times of one run of the wanted benchmarks, by name."""
    command = [program, "--benchmark_format=json", "--benchmark_min_time=0.1", f"--benchmark_filter=^({'|'.join(wanted)})$"]
    last = max(os.sched_getaffinity(0))  # the first has most of the machine's interrupts
    run = subprocess.run(command, capture_output=True, text=True, check=True, preexec_fn=lambda: os.sched_setaffinity(0, {last}))
    rows = json.loads(run.stdout)["benchmarks"]
    failed = [f"{row['name']}: {row['error_message']}" for row in rows if row.get("error_occurred")]
    if failed:
        sys.exit("\n".join(failed))
    return {row["name"]: row.get("ns", row["cpu_time"]) for row in rows}


def row(case, goal, what, times):
    found = {engine: times[name] for engine, name in names(case).items() if name in times}
    cells = [spread(found[engine]) if engine in found else "" for engine in ENGINES]
    both = "c" in found and "llvm" in found
    ratio = f"{statistics.median(found['llvm']) / statistics.median(found['c']):.2f}" if both else ""
    return f"{case:<17} {goal:>8} " + " ".join(f"{cell:>24}" for cell in cells) + f" {ratio:>7}  {what}"


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build, repetitions = pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 9
    wanted = [name for case, _, _ in CASES for name in names(case).values()]
    times = {}
    for _ in range(repetitions):
        for program in ("bench/runtime/bench_clause", "bench/vm/bench_vm"):
            for name, time in runs(build / program, wanted).items():
                times.setdefault(name, []).append(time)
    print(f"{'':<17} {'goal':>8} {'interp':>24} {'llvm':>24} {'C++':>24} {'of C++':>7}")
    for case, goal, what in CASES:
        print(row(case, goal, what, times), flush=True)
    subprocess.run([build / "bench/runtime/translation_delay", "10"], check=True)


if __name__ == "__main__":
    main()
