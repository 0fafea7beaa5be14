#!/usr/bin/env python3
"""Compiles the examples of a guide to DTrace.

usage: compile_guide.py FOLDER     with DVM=path of dvm

The folder holds documentation in DocBook, HTML or Markdown; none of it is kept here. An example is a code block that has a clause, or
the argument of a `dtrace -n` in one. Blocks with a placeholder ("...", probe descriptions in words) or with C code only are not
examples. Status 1 if fewer than 98 % of the examples that Linux can run compile.
"""

import html
import pathlib
import re
import sys
import tempfile

from compile_scripts import compile_all

MARKUP_BLOCK = re.compile(r"<(programlisting|screen|pre)\b[^>]*>(.*?)</\1>", re.S)
FENCED_BLOCK = re.compile(r"^ *```[^\n]*\n(.*?)^ *```", re.S | re.M)
CLAUSE = re.compile(r"^[\w$*:,\-\s]*(?:BEGIN|END|ERROR|[\w$*]*:[\w$*:.\-]*)\s*(?:/[^{}]*/\s*)?\{", re.M)
COMMAND = re.compile(r"\bdtrace (?:-\w+ )*-q?n\s+'([^']*\{[^']*)'")
PLACEHOLDER = re.compile(r"\.\.\.(?!\s*\))|probe descriptions?\s*$|#include|\bint main\b|^#!/bin/|^# dtrace ", re.M)


def blocks(page):
    """The text of each code block of the page."""
    text = page.read_text(errors="replace")
    if page.suffix == ".md":
        return [block[1] for block in FENCED_BLOCK.finditer(text)]
    return [html.unescape(re.sub(r"<[^>]*>", "", block[2])) for block in MARKUP_BLOCK.finditer(text)]


def examples(block):
    """The programs in the block: itself, or those that its commands name."""
    commands = COMMAND.findall(block)
    if commands:
        return commands
    return [block] if CLAUSE.search(block) and not PLACEHOLDER.search(block) else []


def main():
    pages = (page for page in sorted(pathlib.Path(sys.argv[1]).rglob("*")) if page.suffix in (".xml", ".html", ".md"))
    with tempfile.TemporaryDirectory() as folder:
        for page in pages:
            programs = [program for block in blocks(page) for program in examples(block)]
            for number, program in enumerate(programs, 1):
                pathlib.Path(folder, f"{page.stem}-{number}.d").write_text(program.lstrip())
        return compile_all(pathlib.Path(folder))


if __name__ == "__main__":
    sys.exit(main())
