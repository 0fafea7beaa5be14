#!/usr/bin/env python3
"""Fails when a name of a type has two meanings: two types at namespace level have it, in headers or in source files, or one that a
header gives and a type inside of a class.

Types inside of different classes may share a name, since the class is named with it (`Speculations::State`), and so may aliases of one
type, and aliases in single source files. Types are those that Universal Ctags finds, where it is installed.
"""

import collections
import json
import pathlib
import subprocess
import sys

from bars import has_ctags
from tree import TOPS

ROOT = pathlib.Path(__file__).parent.parent.parent


def types(root):
    """Name -> its declarations, as Ctags shows them."""
    files = sorted(str(f.relative_to(root)) for top in TOPS for f in (root / top).rglob("*") if f.suffix in (".h", ".cpp"))
    command = ["ctags", "--languages=C++", "--langmap=C++:+.h", "--kinds-C++=csgutnf", "--fields=+nsKt", "--output-format=json", "-L", "-"]
    output = subprocess.run(command, input="\n".join(files), capture_output=True, text=True, check=True, cwd=root).stdout
    found = collections.defaultdict(list)
    for tag in map(json.loads, output.splitlines()):
        if tag["kind"] not in ("function", "namespace"):
            found[tag["name"]].append(tag)
    return found


def meaning(tag):
    """What an alias stands for; of any other type, where it is. A template and its specialisations are one."""
    return tag.get("typeref") if tag["kind"] == "typedef" else (tag["path"], tag.get("scope"))


def several(tags):
    return tags if len({meaning(tag) for tag in tags}) > 1 else []


def ambiguous(tags):
    """The declarations, if they are of more than one type."""
    meant = [tag for tag in tags if tag.get("scopeKind") != "function"]
    outer = [tag for tag in meant if tag.get("scopeKind", "namespace") == "namespace"]
    if any(tag["path"].endswith(".h") for tag in outer):
        return several(meant)
    return several([tag for tag in outer if tag["kind"] != "typedef"])


def main():
    if not has_ctags():
        print("names: not checked without Universal Ctags")
        return 0
    found = {name: ambiguous(tags) for name, tags in types(ROOT).items()}
    wrong = {name: tags for name, tags in sorted(found.items()) if tags}
    for name, tags in wrong.items():
        print(f"{name} is the name of several types:", *(f"    {tag['path']}:{tag['line']}" for tag in tags), sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
