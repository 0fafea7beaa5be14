#!/usr/bin/env python3
"""Fails if a function that runs for each firing does not begin a line of the instruction cache, as its cost would then differ from build to build.

usage: aligned.py ARCHIVE...     the static libraries of that code
"""

import re
import subprocess
import sys

LINE = 64  # bytes
# The address and the name of a function in the section for ordinary code.
FUNCTION = re.compile(r"([0-9a-f]+) .{6}F \.text\t[0-9a-f]+\s+(?:\.hidden )?(.+)$")


def functions(archive):
    output = subprocess.run(["objdump", "-t", "-C", archive], capture_output=True, text=True, check=True).stdout
    return [(match[2], int(match[1], 16)) for match in map(FUNCTION.match, output.splitlines()) if match]


def main():
    found = [(archive, name, address) for archive in sys.argv[1:] for name, address in functions(archive)]
    problems = [f"{archive}: {name} begins at {address:#x}" for archive, name, address in found if address % LINE != 0]
    print("\n".join(problems) or f"{len(found)} functions, each at the beginning of a line")
    return 1 if problems or not found else 0


if __name__ == "__main__":
    sys.exit(main())
