"""Runs a fuzzer for a number of seconds, with one seed after the other."""

import sys
import time


def run_seeds(run):
    """Calls run(seed), which returns a text that describes a difference, or None. Exits with status 1 if there was any.

    The command line is [SECONDS [SEED]]; without SECONDS, only one seed runs.
    """
    seconds, seed = (float(sys.argv[1]) if sys.argv[1:] else 0), (int(sys.argv[2]) if sys.argv[2:] else 1)
    first, end, failures = seed, time.monotonic() + seconds, 0
    while True:
        problem = run(seed)
        if problem:
            print(problem)
            failures += 1
        seed += 1
        if time.monotonic() >= end:
            break
    print(f"{seed - first} programs, {failures} failures")
    sys.exit(1 if failures else 0)
