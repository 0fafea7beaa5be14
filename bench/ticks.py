#!/usr/bin/env python3
"""Measures how late `tick-100ms` fires while another probe fires as often as it can. The ticks stand on a grid, which is that of the earliest tick of a run.
Prints per case the median and the longest lateness of the ticks, the ticks that others stood for, the rows, and the drops.

usage: ticks.py DVM PROGRAMS_FOLDER [SECONDS]
"""

import math
import re
import statistics
import subprocess
import sys

import lifetime  # noqa: F401

DVM, PROGRAMS = sys.argv[1], sys.argv[2]
SECONDS = int(sys.argv[3]) if len(sys.argv) > 3 else 5
PERIOD = 100_000_000
PROBE = "pid$target:looper:func:entry"
TICKS = " tick-100ms { printf(\"tick %%d\\n\", timestamp); } tick-%ds { exit(0); }" % SECONDS
FLOODS = {
    "rows": PROBE + " { printf(\"row %d %s\\n\", timestamp, execname); }",
    "counts": PROBE + " { calls++; @[calls % 1000] = count(); }",
    "counts where they fire": PROBE + " { @ = count(); }",
    "two probes": PROBE + " { @ = count(); } pid$target:looper:func:return { printf(\"row %d\\n\", timestamp); }",
}


def lateness(times):
    """Of each tick in ms, from the grid on which the earliest one lies."""
    start = times[0]
    offsets = [(time - start + PERIOD // 2) % PERIOD - PERIOD // 2 for time in times]
    return [(offset - min(offsets)) / 1e6 for offset in offsets]


def measure(script, *options):
    command = [DVM, "run", "-q", *options, "-n", script + TICKS, "-c", PROGRAMS + "/looper 4000000000"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    times = [int(time) for time in re.findall(r"tick (\d+)", done.stdout)]
    if not times and "drop" not in done.stderr:
        sys.exit("%s\n%s" % (" ".join(command), done.stderr[:2000]))
    late = lateness(times) if times else [math.nan]
    drops = sum(int(count) for count in re.findall(r"(\d+) drop", done.stderr))
    return statistics.median(late), max(late), max(SECONDS * 10 - 1 - len(times), 0), done.stdout.count("row"), drops


print("%-36s %9s %9s %7s %9s %9s" % ("", "median ms", "most ms", "missed", "rows", "drops"))
for backend in ("uprobe", "agent"):
    for name, script in FLOODS.items():
        for how in ([], ["--json"]):
            figures = measure(script, "-x", "backend=" + backend, *how)
            print("%-36s %9.2f %9.2f %7d %9d %9d" % (" ".join([backend, name, *how]), *figures), flush=True)
