"""The source tree as the layering test sees it: files, what they include, and the libraries of CMake."""

import pathlib
import re

TOPS = ("common", "compiler", "vm", "runtime", "lab", "view", "export", "cmd")


class Tree:
    def __init__(self, root):
        self.root = root
        found = (f for top in TOPS for f in sorted((root / top).rglob("*")) if f.suffix in (".h", ".cpp"))
        self.text = {str(f.relative_to(root)): f.read_text() for f in found}

    def includes(self):
        """(file, what it includes, "<" or a quotation mark) for every include."""
        for path, text in self.text.items():
            for mark, include in re.findall(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', text, re.M):
                yield path, include, mark

    def header(self, include):
        """The header of the project that an include names, or None."""
        places = [include] + [f"{top}/include/{include}" for top in TOPS]
        return next((p for p in places if p in self.text), None)

    def unit(self, path):
        """A header with the source file of its name, which lies beside it or includes it from the public headers."""
        stem = path.rsplit(".", 1)[0]
        if path.endswith(".h") or stem + ".h" in self.text:
            return stem
        name = re.escape(stem.rsplit("/", 1)[1])
        public = re.search(rf'^#include "(dvm/[^"]*/{name}\.h)"', self.text[path], re.M)
        return self.header(public[1]).rsplit(".", 1)[0] if public else stem

    def edges(self, node):
        """{node: nodes it includes}, with node(path) the folder or the unit of a file."""
        graph = {}
        for path, include, _ in self.includes():
            header = self.header(include)
            if header and node(path) != node(header):
                graph.setdefault(node(path), set()).add(node(header))
        return graph


def folder(path):
    return str(pathlib.PurePath(path).parent)


def drawn_as(path):
    """The folder by which docs/README.md draws it: of runtime/ and lab/ the one below, otherwise the one at the top."""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] in ("runtime", "lab") else parts[0]


def is_public(path):
    return "/include/dvm/" in path


def libraries(root):
    """{library: its source files} of all dvm_library() and target_sources() calls, without generated ones."""
    found = {}
    for top in TOPS:
        for file in sorted(f for pattern in ("CMakeLists.txt", "*.cmake") for f in (root / top).rglob(pattern)):
            text = re.sub(r"#.*", "", file.read_text())
            for name, words in re.findall(r"(?:dvm_library|target_sources)\((\S+)([^)]*)\)", text):
                sources = [str((file.parent / w).relative_to(root)) for w in words.split() if w.endswith(".cpp") and not w.startswith("${")]
                found.setdefault(name.removeprefix("dvm_"), set()).update(sources)
    return found
