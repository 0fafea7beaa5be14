#!/usr/bin/env python3
"""Measures the size of the source's parts, and fails when one passes its bar:

- a file has more than FILE_LINES lines, tests and benchmarks included;
- of the functions, the median, the 95th percentile or the longest has more lines than its bar;
- an opcode is named in more than OPCODE_FILES source files.

Functions are those that Universal Ctags finds, where it is installed; a function's lines are all from its head to its closing brace.
"""

import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys

from tree import TOPS

ROOT = pathlib.Path(__file__).parent.parent.parent
FILE_LINES = 500
MEDIAN, PERCENTILE_95, LONGEST = 10, 45, 100
OPCODE_FILES = 5


def sources():
    return sorted(f for top in TOPS for f in (ROOT / top).rglob("*") if f.suffix in (".h", ".cpp", ".c", ".def", ".d"))


def long_files():
    suffixes = (".h", ".cpp", ".c", ".def", ".d", ".py")
    files = sorted(f for top in (*TOPS, "tests", "bench") for f in (ROOT / top).rglob("*") if f.suffix in suffixes)
    return [f"{file.relative_to(ROOT)} has {lines} lines" for file in files if (lines := file.read_bytes().count(b"\n")) > FILE_LINES]


def functions(files):
    """(lines, file, line, name) of each function."""
    names = "\n".join(str(file) for file in files if file.suffix in (".h", ".cpp", ".c"))
    command = ["ctags", "--languages=C,C++", "--langmap=C++:+.h", "--kinds-C=f", "--kinds-C++=f", "--fields=+ne", "--output-format=json", "-L", "-"]
    output = subprocess.run(command, input=names, capture_output=True, text=True, check=True).stdout
    tags = (json.loads(line) for line in output.splitlines())
    return sorted(((tag["end"] - tag["line"] + 1, tag["path"], tag["line"], tag["name"]) for tag in tags if "end" in tag), reverse=True)


def opcode_files(texts):
    """Opcode -> files that name it."""
    table = texts[ROOT / "vm/dif/opcodes.def"]
    opcodes = re.findall(r"^DVM_OPCODE\(\s*[^,]+,\s*(\w+)", table, re.M)
    named = {file: set(re.findall(r"\bOpcode::(\w+)|^DVM_\w+\((\w+)", text, re.M)) for file, text in texts.items()}
    return {opcode: [str(file.relative_to(ROOT)) for file, names in named.items() if any(opcode in pair for pair in names)] for opcode in opcodes}


def has_ctags():
    return shutil.which("ctags") and "json" in subprocess.run(["ctags", "--list-features"], capture_output=True, text=True).stdout


def long_functions(files):
    if not has_ctags():
        return ["functions: not measured without Universal Ctags"], []
    found = functions(files)
    lengths = [length for length, *_ in found]
    median, percentile = statistics.median(lengths), statistics.quantiles(lengths, n=20)[-1]
    problems = [f"{path}:{line}: {name} has {length} lines" for length, path, line, name in found if length > LONGEST]
    if median > MEDIAN or percentile > PERCENTILE_95:
        problems.append("functions have become too long")
    return [f"{len(found)} functions: median {median:.0f}, 95th percentile {percentile:.0f}, longest {lengths[0]} lines"], problems


def main():
    files = sources()
    texts = {file: file.read_text() for file in files}
    problems = long_files()
    notes, found = long_functions(files)
    named = opcode_files(texts)
    notes.append(f"an opcode is named in at most {max(len(where) for where in named.values())} files")
    problems += found + [f"opcode {opcode} is named in {', '.join(where)}" for opcode, where in named.items() if len(where) > OPCODE_FILES]
    print("\n".join([f"{len(files)} files", *notes, *problems]))
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
