#!/usr/bin/env python3
"""Fails if code that runs in probe context has a variable of its own: all that a firing changes belongs to a context.

usage: statics.py ARCHIVE...     the static libraries of that code
"""

import re
import subprocess
import sys

# A symbol, its section and its name, but for the symbols of sections and files.
SYMBOL = re.compile(r"[0-9a-f]+ .{5}[^dfF].(?: |O)?\s*(\.t?(?:bss|data)\S*)\t[0-9a-f]+\s+(?:\.hidden )?(.+)$")


def is_constant(name, section):
    """The loader alone writes it: GCC puts constants of headers that hold addresses beside data."""
    return ".data.rel.ro" in section or ".DW.ref." in section or (section.startswith(".data.rel.") and re.search(r"(^|::)k[A-Z]\w*$", name))


def variables(archive):
    output = subprocess.run(["objdump", "-t", "-C", archive], capture_output=True, text=True, check=True).stdout
    found = (SYMBOL.match(line) for line in output.splitlines())
    return [(match[2], match[1]) for match in found if match and not is_constant(match[2], match[1])]


def main():
    problems = [f"{archive}: {name} lies in {section}" for archive in sys.argv[1:] for name, section in variables(archive)]
    print("\n".join(problems) or "no variables outside of contexts")
    return 1 if problems or len(sys.argv) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
