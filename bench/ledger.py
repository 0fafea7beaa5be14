#!/usr/bin/env python3
"""Accuracy of the ledger. Records two runs of a program and replays scripts on them, accounted for by a profile; prints by how much
the accounted clocks differ from those that each replay took.

usage: ledger.py BUILD_FOLDER PROFILE [REPLAYS [CALLS [SCRIPT...]]]

A figure is the middle of REPLAYS (5) with the least and the most, in per cent of what was measured, of recordings of CALLS (1,200,000)
firings. If a neighbour disturbed a replay, its figure is that of the line `quiet core`. Replays that were disturbed nearly all the time are
repeated, at most as often again, and then left out. Reads of buffers are of 128 KB. Recording needs root. The exit status is 1 if a
script misses by more than 5 % or could not be measured.
"""

import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import lifetime  # noqa: F401

if len(sys.argv) < 3:
    sys.exit(__doc__)
BUILD, PROFILE = pathlib.Path(sys.argv[1]), sys.argv[2]
REPLAYS = int(sys.argv[3]) if len(sys.argv) > 3 else 5
CALLS = int(sys.argv[4]) if len(sys.argv) > 4 else 1_200_000
DVM, LOOPER = BUILD / "cmd/dvm", BUILD / "tests/programs/looper"
GOAL = 5  # per cent
ALONE = 10  # per cent of the looks of a replay, at least
PROBE = "pid$target:a.out:func:entry"

ACTIONS = [
    "@ = count();",
    "@ = sum(arg0);",
    "@ = quantize(arg0);",
    "@[execname] = count();",
    "@[pid, tid] = avg(arg0);",
    "@[rand() % 10] = count();",
    "@[rand() % 1000] = count();",
    "@[rand() % 100000] = count();",
    '@[strjoin(execname, "x")] = count();',
    "self->ts = timestamp;",
    "self->n++; @ = max(self->n);",
    "last[tid] = timestamp; @[execname] = count();",
    "seen[rand() % 10] = timestamp;",
    "seen[rand() % 1000] = timestamp;",
    "trace(arg0);",
    "trace(execname);",
    'printf("%d %d\\n", pid, tid);',
    'printf("%s\\n", execname);',
    'printf("%s[%d] %x\\n", execname, tid, arg0);',
]
WITH_MEMORY = [
    "@ = count();",
    "@[copyinstr(arg0)] = count();",
    "trace(copyinstr(arg0));",
    'printf("%s %d\\n", copyinstr(arg0), tid);',
]
CAPTURED = {"without memory": "@ = count();", "with a captured string": "@[copyinstr(arg0)] = count();"}
ALL = {"without memory": sys.argv[5:] or ACTIONS, "with a captured string": [] if len(sys.argv) > 5 else WITH_MEMORY}


def clause(actions):
    return f"{PROBE} {{ {actions} }}"


def record(path, actions):
    # The program of -c writes one line to the same output.
    command = [DVM, "record", "-q", "-x", "ringsize=64m", "-o", path, "-n", clause(actions), "-c", f"{LOOPER} {CALLS}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def replay(path, actions):
    """(per cent of the looks that were quiet, difference in per cent) of one replay."""
    command = [DVM, "replay", "-q", "-x", "bufsize=256k", f"--ledger={PROFILE}", path, "-n", clause(actions)]
    run = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if run.returncode != 0:
        sys.exit(f"{actions}: {run.stderr.strip()}")
    ledger = run.stdout[run.stdout.rindex("LEDGER") :]
    difference = re.search(r"^  difference +\S+ +(\S+)", ledger, re.M)
    quiet = re.search(r"^  quiet core +\S+ +(\S+) .* for (\d+) % of the time", ledger, re.M)
    return (int(quiet[2]), float(quiet[1])) if quiet else (100, float(difference[1]))


def measure(path, actions):
    """The differences of the replays that were quiet enough."""
    differences = []
    for _ in range(2 * REPLAYS):
        quiet, difference = replay(path, actions)
        if quiet >= ALONE:
            differences.append(difference)
        if len(differences) == REPLAYS:
            break
    return sorted(differences)


def main():
    middles = {}
    with tempfile.TemporaryDirectory() as folder:
        for title, captured in CAPTURED.items():
            if not ALL[title]:
                continue
            path = f"{folder}/{len(middles)}.dvm"
            record(path, captured)
            print(f"\n{title:<56} {'%':>8} {'least':>8} {'most':>8}   replays")
            for actions in ALL[title]:
                found = measure(path, actions)
                middles[title, actions] = statistics.median(found) if found else None
                shown = f"{middles[title, actions]:>+8.1f} {found[0]:>+8.1f} {found[-1]:>+8.1f}" if found else f"{'no core was quiet':>26}"
                print(f"{actions:<56} {shown}   {len(found)}", flush=True)
    within = [one for one in middles.values() if one is not None and abs(one) <= GOAL]
    worst = max((one for one in middles.values() if one is not None), key=abs, default=0)
    print(f"\n{len(within)} of {len(middles)} within {GOAL} %, worst {worst:+.1f} %")
    return len(within) != len(middles)


if __name__ == "__main__":
    sys.exit(main())
