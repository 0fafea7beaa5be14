#!/usr/bin/env python3
"""Prints a libFuzzer dictionary: the words of D, or with --dif those of DIF listings, from the grammar and the tables.

usage: dictionary.py [--dif]
"""

import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]


def rows(table):
    """The fields of each row of a table, quotes taken off."""
    for row in re.findall(r"^DVM_\w+\((.*)\)$", (TOP / "vm/dif" / table).read_text(), re.M):
        yield [field.strip(' "') for field in row.split(",")]


def words_of_d():
    grammar = re.sub(r"^//.*|\[[^\]]*\]", "", (TOP / "grammar/DLexer.g4").read_text(), flags=re.M)
    found = {literal.replace("\\\\", "\\") for literal in re.findall(r"'((?:\\.|[^'\\\n])+)'", grammar)}
    for table in ("actions.def", "aggregations.def", "subroutines.def"):
        found |= {row[1] + "(" for row in rows(table)}
    found |= {row[1] for row in rows("variables.def")} | {row[0].rstrip("_") for row in rows("options.def")}
    return found | {"BEGIN", "END", "ERROR", "tick-1s", "pid$target", "#pragma D option ", "#pragma D "}


def words_of_dif():
    found = {row[2] for row in rows("opcodes.def")} | {row[1] for row in rows("subroutines.def")}
    return found | {row[1] for row in rows("variables.def")} | {f"%r{i}" for i in range(9)} | {"DT_VAR(", "DT_INTEGER[", "DT_STRING[", "DIF_SUBR("}


def main():
    for word in sorted(words_of_dif() if "--dif" in sys.argv else words_of_d()):
        print('"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"')


if __name__ == "__main__":
    main()
