"""Syntax files for editors (editors/): they are what the tables make of them, and an editor shows the words of D by their kind."""

import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import dvmtest
from dvmtest import ROOT

EDITORS = ROOT / "editors"
SCRIPT = """#!/usr/bin/env -S dvm run -s
/* a count */
#pragma D option quiet
syscall::read:entry
/pid == $target && arg2 > 0x10/
{
	self->begin = timestamp;
	@sizes[execname] = quantize(arg2);
	printf("%d\\n", (int)arg0);
	this->n = strlen(copyinstr(arg1));
	if (this->n) { min = 1; }
}
pid$target::main:entry { }
"""
# Line and word of the script, and the group that Vim gives it.
GROUPS = {(2, "count"): "dvmComment", (3, "option"): "dvmPragma", (4, "read"): "dvmProbe", (5, "pid"): "dvmVariable", (5, "target"): "dvmMacro",
          (5, "0x10"): "dvmNumber", (7, "self"): "dvmDeclaration", (7, "timestamp"): "dvmVariable", (8, "sizes"): "dvmAggregation",
          (8, "quantize"): "dvmAggregating", (9, "printf"): "dvmFunction", (9, "%d"): "dvmFormat", (9, "int"): "dvmType",
          (10, "copyinstr"): "dvmFunction", (11, "if"): "dvmConditional", (11, "min"): "",
          (13, "pid$target"): "dvmProbe"}


def place(line, word):
    return re.search(rf"(?<!\w){re.escape(word)}(?!\w)", SCRIPT.split("\n")[line - 1]).start()


def load_make():
    spec = importlib.util.spec_from_file_location("make", EDITORS / "make.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    return make


class Editors(unittest.TestCase):
    def test_files_are_those_of_the_tables(self):
        for path, text in load_make().files().items():
            self.assertEqual((EDITORS / path).read_text(), text, f"{path}: run editors/make.py")

    def test_tables_are_read_whole(self):
        known = load_make().words()
        self.assertEqual(set(known["aggregating"]),
                         {"count", "sum", "min", "max", "avg", "stddev", "quantize", "lquantize", "llquantize"})
        self.assertLessEqual({"printf", "printa", "ustack", "copyinstr", "strlen", "exit"}, set(known["function"]))
        self.assertLessEqual({"pid", "execname", "timestamp", "args", "fds"}, set(known["variable"]))

    def show(self, editor, runtime):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "script.d").write_text(SCRIPT)
            asked = ["let out = [&filetype]"]
            for line, word in GROUPS:
                asked.append(f"call add(out, synIDattr(synID({line}, {place(line, word) + 1}, 0), 'name'))")
            asked += [f"call writefile(out, '{folder}/out')", "qa!"]
            (folder / "ask.vim").write_text("\n".join(asked))
            subprocess.run([*editor, "-u", "NONE", "-N", "-es", "--cmd", f"set rtp^={runtime}", "-c", "filetype on", "-c", "syntax on",
                            "-c", "edit script.d", "-S", "ask.vim"], cwd=folder, timeout=60, stdin=subprocess.DEVNULL, capture_output=True, check=False)
            return (folder / "out").read_text().split("\n")

    def test_vim_and_neovim(self):
        editors = [[name] for name in ("vim", "nvim") if shutil.which(name)]
        if not editors:
            dvmtest.skip_or_fail(self, "neither vim nor nvim is installed")
        for editor in editors:
            filetype, *groups = self.show(editor, EDITORS / "vim")
            self.assertEqual(filetype, "dvm", editor)
            self.assertEqual(dict(zip(GROUPS, groups)), GROUPS, editor)

    def test_grammar_of_vs_code(self):
        package = json.loads((EDITORS / "vscode/package.json").read_text())["contributes"]
        for path in (package["languages"][0]["configuration"], package["grammars"][0]["path"]):
            self.assertTrue((EDITORS / "vscode" / path).exists(), path)
        grammar = json.loads((EDITORS / "vscode" / package["grammars"][0]["path"]).read_text())
        self.assertEqual(grammar["scopeName"], package["grammars"][0]["scopeName"])
        first = {}
        for line, word in GROUPS:  # the first pattern whose match lies at the word
            text = SCRIPT.split("\n")[line - 1]
            found = [one["name"] for one in grammar["patterns"] if "match" in one
                     for match in re.finditer(one["match"], text) if match.start() <= place(line, word) < match.end()]
            first[word] = found[0] if found else ""
        for word, kind in (("pid", "variable.language"), ("quantize", "keyword.other"), ("printf", "support.function"), ("if", "keyword.control"),
                           ("self", "storage.modifier"), ("0x10", "constant.numeric"), ("read", "entity.name.tag"), ("target", "variable.parameter")):
            self.assertTrue(first[word].startswith(kind), (word, first[word]))


if __name__ == "__main__":
    unittest.main()
