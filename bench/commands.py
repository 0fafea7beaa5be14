#!/usr/bin/env python3
"""Times dvm as a whole command beside bpftrace, alternating in one run; prints medians with their spread.

usage: commands.py DVM PROGRAMS_FOLDER [ROUNDS]

  begin_exit     start, compile BEGIN { exit(0); }, run it, end
  first_uprobe   start, attach to a function that a running process calls all the time, see the first call, end
  attach_bash    attach to and detach from every function of bash (dvm only)
The last column is the largest resident set seen.
"""

import os
import shutil
import statistics
import subprocess
import sys
import time

DVM, PROGRAMS = sys.argv[1], sys.argv[2]
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 15
LOOPER = os.path.join(PROGRAMS, "looper")


def timed(command):
    """(milliseconds, largest resident set in KiB) of one run."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{command}: {errors.decode()}")
    return 1000 * (time.monotonic() - start), usage.ru_maxrss


def compare(name, commands):
    """Alternates the commands, so that a busy moment of the machine falls on all."""
    samples = {label: [] for label in commands}
    for _ in range(ROUNDS):
        for label, command in commands.items():
            samples[label].append(timed(command))
    for label, runs in samples.items():
        times = sorted(t for t, _ in runs)
        print(f"{name:<14}{label:<10} median {statistics.median(times):8.1f} ms   {times[0]:.1f} .. {times[-1]:.1f}   n {len(times)}"
              f"   max RSS {max(r for _, r in runs) / 1024:.1f} MiB")


def main():
    bpftrace = shutil.which("bpftrace")
    begin = {"dvm": [DVM, "run", "-q", "-n", "BEGIN { exit(0); }"]}
    if bpftrace:
        begin["bpftrace"] = [bpftrace, "-e", "BEGIN { exit(); }"]
    compare("begin_exit", begin)

    target = subprocess.Popen([LOOPER, "1000000000000"], stdout=subprocess.DEVNULL)
    try:
        first = {"dvm": [DVM, "run", "-q", "-n", "pid$target:looper:func:entry { exit(0); }", "-p", str(target.pid)]}
        if bpftrace:
            first["bpftrace"] = [bpftrace, "-p", str(target.pid), "-e", f"uprobe:{LOOPER}:func {{ exit(); }}"]
        compare("first_uprobe", first)
    finally:
        target.kill()
        target.wait()

    shell = subprocess.Popen(["bash", "-c", "while :; do sleep 1; done"])
    try:
        compare("attach_bash", {"dvm": [DVM, "run", "-q", "-n", "BEGIN { exit(0); } pid$target:bash::entry { @ = count(); }", "-p", str(shell.pid)]})
    finally:
        shell.kill()
        shell.wait()


if __name__ == "__main__":
    main()
