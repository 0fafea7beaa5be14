#!/usr/bin/env python3
"""What clauses in the traced thread add to a call, in ns: programs run untraced and traced by an agent in turn; medians with quartiles.

usage: agent.py DVM PROGRAMS_FOLDER [ROUNDS [CALLS]]

The function that is traced runs in one thread. The last column says where the clause runs, and how many firings were dropped.
"""

import os
import re
import statistics
import subprocess
import sys

DVM, PROGRAMS = sys.argv[1], sys.argv[2]
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 9
CALLS = int(sys.argv[4]) if len(sys.argv) > 4 else 2_000_000
LOOPER = [os.path.join(PROGRAMS, "looper"), str(CALLS)]

CLAUSES = {
    "count": "{ @ = count(); }",
    "predicate/false": "/arg0 == 1/ { @ = count(); }",
    "key/integer": "{ @[arg0 & 7] = count(); }",
    "key/literal": "{ @[copyinstr(arg0)] = count(); }",
    "key/constants": "{ @[probefunc, probemod, arg0 & 7] = count(); }",
    "key/execname": "{ @[execname] = count(); }",
    "record/64": "{ n += arg0 + arg1 + arg2 + arg3; }",
    "record/false": "/arg0 == 1/ { n++; }",
}


def time_of(output):
    return float(re.search(r"([\d.]+) ns/call", output)[1])


def run(clause):
    """(ns a call, what ran in the thread, drops)"""
    if clause is None:
        return time_of(subprocess.run(LOOPER, capture_output=True, text=True, check=True).stdout), "", 0
    text = f"pid$target:looper:func:entry {clause}"
    command = [DVM, "run", "-qv", "-x", "backend=agent", "-n", text, "-c", " ".join(LOOPER)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{text}: {result.stderr}")
    drops = sum(int(count) for count in re.findall(r"(\d+) drops?", result.stderr))
    return time_of(result.stdout), re.search(r"\(agent(?:, )?(.*?)\)", result.stderr)[1], drops


def main():
    added = {name: [] for name in CLAUSES}
    where, dropped = {}, dict.fromkeys(CLAUSES, 0)
    for _ in range(ROUNDS):
        for name, clause in CLAUSES.items():
            plain, _, _ = run(None)
            traced, where[name], drops = run(clause)
            added[name].append(traced - plain)
            dropped[name] += drops
    print(f"{'added ns a call':<20}{'median':>8}   quartiles")
    for name, values in added.items():
        low, median, high = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
        print(f"agent/{name:<20}{median:8.1f}   {low:.1f} .. {high:.1f}   {where[name] or 'by records'}, {dropped[name]} drops")


if __name__ == "__main__":
    main()
