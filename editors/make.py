#!/usr/bin/env python3
"""Writes the syntax files for Vim and VS Code from dvm's tables of words: editors/make.py [FOLDER]."""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CONTROL = "if else".split()
TYPES = """void char short int long float double signed unsigned string _Bool struct union enum const volatile userland size_t ssize_t pid_t
  id_t uid_t gid_t uintptr_t intptr_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t""".split()
DECLARATIONS = "typedef inline translator provider probe self this sizeof offsetof stringof xlate auto extern register static".split()


def table(name, row):
    """The second word of each row of a table in vm/dif."""
    text = (ROOT / "vm" / "dif" / f"{name}.def").read_text()
    return sorted(set(re.findall(rf"(?m)^{row}\(\s*\w+,\s*(\w+)", text)))


def variables():
    """Built-in ones, and those of the D libraries."""
    text = (ROOT / "vm" / "dif" / "variables.def").read_text()
    built_in = re.findall(r'(?m)^DVM_VARIABLE\(\s*\w+,\s*\w+,\s*"([a-z]\w*)"', text)
    return sorted({name for name in built_in if not name.startswith("dvm_")} | {"fds", "curpsinfo", "curlwpsinfo", "curcpu"})


def words():
    functions = sorted(set(table("actions", "DVM_ACTION") + table("subroutines", "DVM_SUBR")) - {"expression", "dvm_ustack"})
    return {"control": CONTROL, "type": TYPES, "declaration": DECLARATIONS, "function": functions,
            "aggregating": table("aggregations", "DVM_AGGREGATION"), "variable": variables()}


def vim(known):
    def keywords(group, names):
        return "\n".join(f"syn keyword {group} {' '.join(names[i:i + 12])}" for i in range(0, len(names), 12))

    return f'''" Vim syntax file for D, the language of dvm and DTrace. Written by editors/make.py.
if exists("b:current_syntax")
  finish
endif
syn iskeyword @,48-57,_
{keywords("dvmConditional", known["control"])}
{keywords("dvmType", known["type"])}
{keywords("dvmDeclaration", known["declaration"])}
{keywords("dvmFunction", known["function"])}
{keywords("dvmVariable", [name for name in known["variable"] if name != "pid"])}
" No keyword, which would win over the probe in pid$target:::
syn match dvmVariable "\\<pid\\>"
syn match dvmAggregating "\\v<({"|".join(known["aggregating"])})>\\ze\\s*\\("
syn match dvmAggregation "@\\h\\?\\w*"
syn match dvmMacro "\\$\\$\\?\\w\\+"
syn match dvmNumber "\\v<(0[xX]\\x+|\\d+)[uUlL]*>"
syn match dvmProbe "\\v[[:alnum:]_$*?.-]*:[^:[:blank:],{{/;?]*:[^[:blank:],{{/;]*"
syn match dvmProbe "\\v<(BEGIN|END|ERROR)>"
syn match dvmProbe "\\v<(tick|profile)-\\w+>"
syn match dvmPragma "^\\s*#.*$"
syn match dvmEscape contained "\\\\."
syn match dvmFormat contained "%[-+ #0-9.*@]*[a-zA-Z%]"
syn region dvmString start=+"+ skip=+\\\\.+ end=+"+ oneline contains=dvmEscape,dvmFormat
syn region dvmCharacter start=+'+ skip=+\\\\.+ end=+'+ oneline contains=dvmEscape
syn region dvmComment start="/\\*" end="\\*/" contains=@Spell
hi def link dvmConditional Conditional
hi def link dvmType Type
hi def link dvmDeclaration StorageClass
hi def link dvmFunction Function
hi def link dvmVariable Identifier
hi def link dvmAggregating Statement
hi def link dvmAggregation Special
hi def link dvmMacro Macro
hi def link dvmNumber Number
hi def link dvmProbe Label
hi def link dvmPragma PreProc
hi def link dvmEscape SpecialChar
hi def link dvmFormat SpecialChar
hi def link dvmString String
hi def link dvmCharacter Character
hi def link dvmComment Comment
let b:current_syntax = "dvm"
'''


FILETYPE = '''" Scripts of dvm: *.d files that begin with a line for dvm or dtrace, or that have a clause of D. Written by editors/make.py.
function! s:Detect() abort
  for line in getline(1, 60)
    if line =~# '^#!.*\\<\\(dvm\\|dtrace\\)\\>' || line =~# '^#pragma D ' || line =~# '^\\S*:[^:]*:[^:]*:\\S*' || line =~# '^\\(BEGIN\\|END\\|tick-\\)'
      set filetype=dvm
      return
    endif
  endfor
endfunction
autocmd BufNewFile,BufRead *.d call s:Detect()
'''


def grammar(known):
    def one_of(names):
        return rf"\b({'|'.join(names)})\b"

    escape = {"name": "constant.character.escape.dvm", "match": r"\\."}
    return {
        "name": "D (dvm, DTrace)", "scopeName": "source.dvm", "patterns": [
            {"name": "comment.block.dvm", "begin": r"/\*", "end": r"\*/"},
            {"name": "meta.preprocessor.dvm", "match": r"^\s*#.*$"},
            {"name": "string.quoted.double.dvm", "begin": '"', "end": '"|$', "patterns": [
                escape, {"name": "constant.other.placeholder.dvm", "match": r"%[-+ #0-9.*@]*[a-zA-Z%]"}]},
            {"name": "string.quoted.single.dvm", "begin": "'", "end": "'|$", "patterns": [escape]},
            {"name": "entity.name.tag.probe.dvm", "match": r"[\w$*?.-]*:[^:\s,{/;?]*:[^\s,{/;]*|\b(BEGIN|END|ERROR)\b|\b(tick|profile)-\w+"},
            {"name": "keyword.control.dvm", "match": one_of(known["control"])},
            {"name": "storage.type.dvm", "match": one_of(known["type"])},
            {"name": "storage.modifier.dvm", "match": one_of(known["declaration"])},
            {"name": "keyword.other.aggregating.dvm", "match": one_of(known["aggregating"]) + r"(?=\s*\()"},
            {"name": "variable.other.aggregation.dvm", "match": r"@\w*"},
            {"name": "variable.parameter.macro.dvm", "match": r"\$\$?\w+"},
            {"name": "support.function.dvm", "match": one_of(known["function"])},
            {"name": "variable.language.dvm", "match": one_of(known["variable"])},
            {"name": "constant.numeric.dvm", "match": r"\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]*\b"}]}


PACKAGE = {
    "name": "dvm", "displayName": "D scripts of dvm and DTrace", "version": "0.1.0", "publisher": "dvm", "engines": {"vscode": "^1.60.0"},
    "categories": ["Programming Languages"],
    "contributes": {
        "languages": [{"id": "dvm", "aliases": ["D (dvm, DTrace)"], "extensions": [".d"],
                       "firstLine": r"^#!.*\b(dvm|dtrace)\b", "configuration": "./language-configuration.json"}],
        "grammars": [{"language": "dvm", "scopeName": "source.dvm", "path": "./syntaxes/dvm.tmLanguage.json"}]}}
PAIRS = [["{", "}"], ["[", "]"], ["(", ")"]]
CONFIGURATION = {"comments": {"blockComment": ["/*", "*/"]}, "brackets": PAIRS, "autoClosingPairs": PAIRS + [['"', '"'], ["'", "'"]]}


def files():
    """The text of each file, by its path in this folder."""
    known = words()
    texts = {"vim/syntax/dvm.vim": vim(known), "vim/ftdetect/dvm.vim": FILETYPE}
    for path, value in (("vscode/package.json", PACKAGE), ("vscode/language-configuration.json", CONFIGURATION),
                        ("vscode/syntaxes/dvm.tmLanguage.json", grammar(known))):
        texts[path] = json.dumps(value, indent=2) + "\n"
    return texts


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "editors"
    for path, text in files().items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)


if __name__ == "__main__":
    main()
