#!/usr/bin/env python3
"""Reads the includes of every source file and fails when a folder includes what it may not know.

The allowed edges are the targets of the top-level layout: compiler and vm both know only the DIF contract, the runtime
knows the vm, the command line knows all; ANTLR, libbpf and libdw stay in their folder and out of public headers.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).parent.parent.parent

# folder -> prefixes of project includes that it may use
ALLOWED = {
    "common": ["common/"],
    "vm/dif": ["common/", "vm/dif/", "dvm/dif/"],
    "vm/include/dvm/dif": ["common/", "vm/dif/", "dvm/dif/"],
    "vm": ["common/", "vm/", "dvm/dif/", "dvm/vm/"],
    "compiler": ["common/", "compiler/", "vm/dif/", "dvm/dif/", "dvm/compiler/", "DLexer.h", "DParser.h"],
    "runtime": ["common/", "runtime/", "vm/dif/", "dvm/dif/", "dvm/vm/", "dvm/runtime/"],
    "cmd": ["common/", "cmd/", "runtime/", "dvm/"],
}
# library header prefix -> the only folders that may include it
FENCED = {
    "antlr4": ["compiler/parse/"],
    "DLexer": ["compiler/parse/"],
    "DParser": ["compiler/parse/"],
    "bpf/": ["runtime/instrument/uprobe/"],
    "linux/bpf": ["runtime/instrument/uprobe/", "tests/support/tracing_privilege."],
    "elfutils/": ["runtime/symbol/"],
    "dwarf.h": ["runtime/symbol/"],
    "gelf": ["runtime/symbol/"],
    "libelf": ["runtime/symbol/"],
    "Zydis/": ["runtime/code/"],
    "CLI/": ["cmd/"],
}
# Probe context knows nothing of the consumer.
FORBIDDEN = {"runtime/probe/": ["runtime/consumer/"], "runtime/buffer/": ["runtime/consumer/"]}


def allowed_for(path):
    folders = [f for f in ALLOWED if path.startswith(f + "/")]
    return ALLOWED[max(folders, key=len)] if folders else None


def problems(path, include, quoted):
    if quoted and (allowed := allowed_for(path)) is not None and "/" in include:
        if not any(include.startswith(prefix) for prefix in allowed):
            yield f"{path} may not include {include}"
    for prefix, folders in FENCED.items():
        if include.startswith(prefix) and not any(path.startswith(f) for f in folders):
            yield f"{path} may not include {include}: only {', '.join(folders)} may"
    for folder, prefixes in FORBIDDEN.items():
        if path.startswith(folder) and any(include.startswith(p) for p in prefixes):
            yield f"{path} may not include {include}"


def main():
    found, read = [], 0
    for top in ("common", "compiler", "vm", "runtime", "cmd"):
        for file in sorted((ROOT / top).rglob("*")):
            if file.suffix not in (".h", ".cpp"):
                continue
            read += 1
            path = str(file.relative_to(ROOT))
            for mark, include in re.findall(r'^\s*#include\s*([<"])([^>"]+)[>"]', file.read_text(), re.M):
                found += problems(path, include, mark == '"')
    print("\n".join(found) or f"{read} files keep to the layout")
    return 1 if found or read == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
