#!/usr/bin/env python3
"""Prints the lines of source by folder, with tables and build files, of a revision (HEAD unless it is given) as git has it."""

import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).parent.parent.parent
SOURCE = re.compile(r"\.(cpp|h|c|S|def|d|g4|py|js|html|css|cmake|sh|proto)$|(^|/)CMakeLists\.txt$")
ROWS = [("common",), ("compiler", "grammar"), ("vm",), ("runtime/cost", "lab"), ("runtime/enabling", "runtime/plan"),
        ("runtime/instrument", "runtime/agent", "runtime/backend"), ("runtime/session", "runtime/probe", "runtime/buffer"), ("runtime/consumer",),
        ("runtime/symbol",), ("runtime",), ("export", "view", "tools"), ("cmd",), ("bench",), ("tests",)]


def lines(revision):
    """Lines by file."""
    names = subprocess.run(["git", "ls-tree", "-r", "--name-only", revision], cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")
    wanted = [name for name in names if SOURCE.search(name)]
    asked = "".join(f"{revision}:{name}\n" for name in wanted).encode()
    answer = subprocess.run(["git", "cat-file", "--batch"], cwd=ROOT, input=asked, capture_output=True, check=True).stdout
    counts, at = {}, 0
    for name in wanted:
        end = answer.index(b"\n", at)
        size = int(answer[at:end].split()[-1])
        counts[name] = answer.count(b"\n", end + 1, end + 1 + size)
        at = end + size + 2
    return counts


def row_of(name):
    """The row with the longest folder that holds the file; none: it has no row."""
    held = [(len(folder), row) for row in ROWS for folder in row if name.startswith(folder + "/")]
    return max(held)[1] if held else None


def main():
    totals = collections.Counter()
    for name, count in lines(sys.argv[1] if len(sys.argv) > 1 else "HEAD").items():
        totals[row_of(name)] += count
    for row in ROWS:
        print(", ".join(row), totals[row])


if __name__ == "__main__":
    main()
