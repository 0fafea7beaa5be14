#!/usr/bin/env python3
"""Reads the includes of every source file and the libraries of CMake, and fails when the tree leaves its layout:

- a folder includes what it may not know (ALLOWED, FENCED, FORBIDDEN);
- folders, or headers with their source files, include each other in a cycle;
- a folder includes one that docs/README.md draws on its own line or above;
- a public header (include/) includes a private one;
- a library of CMake is not the source files of one folder, or does not have its name.
"""

import pathlib
import sys

import graph
from tree import Tree, drawn_as, folder, is_public, libraries

ROOT = pathlib.Path(__file__).parent.parent.parent

# folder -> prefixes of project includes that it may use
ALLOWED = {
    "common": ["common/", "dvm/common/"],
    "vm/dif": ["common/", "dvm/common/", "vm/dif/", "dvm/dif/"],
    "vm/include/dvm/dif": ["common/", "dvm/common/", "vm/dif/", "dvm/dif/"],
    "vm": ["translator_interface.h", "common/", "dvm/common/", "vm/", "dvm/dif/", "dvm/vm/"],
    "vm/engine/llvm": ["translator_interface.h", "vm/cost/", "vm/dif/", "vm/engine/llvm/", "vm/engine/native/translator.h", "dvm/dif/", "dvm/vm/body.h"],
    "compiler": ["common/", "dvm/common/", "compiler/", "vm/dif/", "dvm/dif/", "dvm/compiler/", "DLexer.h", "DParser.h"],
    "runtime": ["common/", "dvm/common/", "runtime/", "vm/dif/", "dvm/dif/", "dvm/vm/", "dvm/runtime/"],
    "lab/noise": ["common/", "dvm/common/", "lab/noise/"],
    "lab": ["common/", "dvm/common/", "lab/", "runtime/", "vm/dif/", "dvm/"],
    "view": ["common/", "dvm/common/", "view/", "runtime/consumer/", "runtime/probe/aggregate.h", "dvm/dif/"],
    "export": ["common/", "dvm/common/", "export/", "runtime/catalog/probe.h", "runtime/consumer/"],
    "cmd": ["common/", "dvm/common/", "cmd/", "export/", "lab/", "runtime/", "view/", "dvm/"],
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
    "curl/": ["export/http_post."],
    "google/protobuf/": ["export/prometheus_protobuf.", "tests/unit/export/prometheus_protobuf_test."],
    "exposition.pb.h": ["export/prometheus_protobuf.", "tests/unit/export/prometheus_protobuf_test."],
    "microhttpd.h": ["export/metrics_server."],
    "llvm/": ["vm/engine/llvm/", "tests/unit/vm/llvm_test."],
}
# Probe context knows nothing of the consumer.
FORBIDDEN = {"runtime/probe/": ["runtime/consumer/"], "runtime/buffer/": ["runtime/consumer/"]}


def allowed_for(path):
    folders = [f for f in ALLOWED if path.startswith(f + "/")]
    return ALLOWED[max(folders, key=len)] if folders else None


def misplaced(path, include, quoted):
    if quoted and (allowed := allowed_for(path)) is not None and "/" in include:
        if not any(include.startswith(prefix) for prefix in allowed):
            yield f"{path} may not include {include}"
    for prefix, folders in FENCED.items():
        if include.startswith(prefix) and not any(path.startswith(f) for f in folders):
            yield f"{path} may not include {include}: only {', '.join(folders)} may"
    for owner, prefixes in FORBIDDEN.items():
        if path.startswith(owner) and any(include.startswith(p) for p in prefixes):
            yield f"{path} may not include {include}"


def cycles(kind, edges):
    for component in graph.strong_components(edges):
        inside = sorted(f"{a} -> {b}" for a in component for b in edges.get(a, ()) if b in component)
        yield f"cycle of {kind}s:\n    " + "\n    ".join(inside)


def drawn_layers(page):
    """{folder: its line} of the drawing of the layers, which the sentence about lower lines heads."""
    lines = page.partition("on lower lines")[2].partition("\n\n")[2].partition("\n\n")[0].splitlines()
    return {name: number for number, line in enumerate(lines) for name in line.split()}


def climbs(edges, layers):
    """Includes that do not go down in the drawing, and folders that it lacks or should not have."""
    yield from (f"docs/README.md draws no {name}" for name in sorted({n for a in edges for n in (a, *edges[a])} - layers.keys()))
    yield from (f"docs/README.md draws {name}, which includes nothing and is not included" for name in sorted(
        layers.keys() - edges.keys() - {b for others in edges.values() for b in others}))
    for a in sorted(edges):
        for b in sorted(edges[a]):
            if layers.get(a, 0) >= layers.get(b, len(layers)):
                yield f"{a} includes {b}, which docs/README.md does not draw below it"


def leaks(tree):
    """Public headers that include private ones."""
    found = {(path, header) for path, include, _ in tree.includes() if is_public(path) and (header := tree.header(include)) and not is_public(header)}
    yield from (f"the public {a} includes the private {b}" for a, b in sorted(found))


def misnamed(name, sources):
    """What is wrong with a library: its sources are those of one folder, the end of whose path is its name."""
    folders = sorted({folder(s) for s in sources})
    if len(folders) > 1:
        return f"library {name} holds {', '.join(folders)}"
    if folders and not ("_" + folders[0].replace("/", "_")).endswith("_" + name):
        return f"library {name} holds {folders[0]}"
    return None


def strays(found):
    wrong = {name: text for name, sources in found.items() if (text := misnamed(name, sources))}
    yield from (text for name, text in sorted(wrong.items()))
    owners = {}
    for name in sorted(set(found) - set(wrong)):
        for place in {folder(s) for s in found[name]}:
            if place in owners:
                yield f"{place} is split between the libraries {owners[place]} and {name}"
            owners[place] = name


def main():
    tree = Tree(ROOT)
    problems = [p for path, include, mark in tree.includes() for p in misplaced(path, include, mark == '"')]
    problems += cycles("folder", tree.edges(folder))
    problems += cycles("unit", tree.edges(tree.unit))
    problems += climbs(tree.edges(drawn_as), drawn_layers((ROOT / "docs/README.md").read_text()))
    problems += leaks(tree)
    problems += strays(libraries(ROOT))
    print("\n".join(problems) or f"{len(tree.text)} files keep to the layout")
    return 1 if problems or not tree.text else 0


if __name__ == "__main__":
    sys.exit(main())
