#!/usr/bin/env python3
"""Fails if code that runs in probe context has a variable of its own, since all that a firing changes belongs to a context; or if
it calls functions that lock or write.

usage: statics.py ARCHIVE...     the static libraries of that code
"""

import re
import subprocess
import sys

# A symbol, its section and its name, but for the symbols of sections and files.
SYMBOL = re.compile(r"[0-9a-f]+ .{5}[^dfF].(?: |O)?\s*(\.t?(?:bss|data)\S*)\t[0-9a-f]+\s+(?:\.hidden )?(.+)$")
# Functions of C and C++ that lock, write or format.
FORBIDDEN = re.compile(r" U (\S*(?:pthread_(?:mutex|rwlock|cond)|f?printf|fwrite|fputs|strftime)\S*|p?writev?|std::(?:basic_)?o?stream\S*)$")


def is_constant(name, section):
    """The loader alone writes it: GCC puts constants of headers that hold addresses beside data."""
    return ".data.rel.ro" in section or ".DW.ref." in section or (section.startswith(".data.rel.") and re.search(r"(^|::)k[A-Z]\w*$", name))


def variables(archive):
    output = subprocess.run(["objdump", "-t", "-C", archive], capture_output=True, text=True, check=True).stdout
    found = (SYMBOL.match(line) for line in output.splitlines())
    return [(match[2], match[1]) for match in found if match and not is_constant(match[2], match[1])]


def calls(archive):
    output = subprocess.run(["nm", "-C", "-u", archive], capture_output=True, text=True, check=True).stdout
    return sorted({match[1] for match in map(FORBIDDEN.search, output.splitlines()) if match})


def main():
    problems = [f"{archive}: {name} lies in {section}" for archive in sys.argv[1:] for name, section in variables(archive)]
    problems += [f"{archive}: calls {name}" for archive in sys.argv[1:] for name in calls(archive)]
    print("\n".join(problems) or "no variables outside of contexts, and no locks or output")
    return 1 if problems or len(sys.argv) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
