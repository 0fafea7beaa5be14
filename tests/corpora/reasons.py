#!/usr/bin/env python3
"""Counts where clauses of published scripts run, and why those of agents run in dvm.

usage: reasons.py FOLDER

The folder is one in which `run.py --backend agent --option=-v --keep FOLDER ...` has kept what the scripts printed. A clause counts once
for each way in which its probes run, with the scripts that have such clauses.
"""

import collections
import pathlib
import re
import sys

WAY = re.compile(r"(dt_clause_\d+) \S+: backend local \(([^)]*)\)(?:.*?not in the traced thread: ([^;]*))?")


def ways_of(text):
    """Clauses, each with a backend and the reason why it runs in dvm, or an empty one."""
    return {(clause, way, reason) for clause, way, reason in WAY.findall(text)}


def main():
    scripts = collections.defaultdict(list)
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.err")):
        for _, *way in sorted(ways_of(path.read_text(errors="replace"))):
            scripts[tuple(way)].append(path.stem)
    for (way, reason), names in sorted(scripts.items(), key=lambda item: -len(item[1])):
        print(f"{len(names):5} clauses of {len(set(names)):3} scripts: {way}{': ' * bool(reason)}{reason}  ({', '.join(sorted(set(names))[:4])})")


if __name__ == "__main__":
    main()
