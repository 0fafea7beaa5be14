#!/usr/bin/env python3
"""Writes the man pages: commands from `dvm help`, dvm-language(7) and dtrace(8) from the pages of the manual.

usage: make_pages.py DVM VERSION MANUAL OUTPUT
"""

import pathlib
import re
import subprocess
import sys
import textwrap

LANGUAGE = ("language", "variables", "actions", "aggregations", "output", "providers")  # pages of dvm-language(7)
GENERAL = ("Exit status", "How tracing ends")  # sections of command-line.md for dvm(1)
# The part of the manual that describes a command: a page, and a section of it unless it is all of it.
DESCRIPTIONS = {
    "": ("README", "The dvm manual"),
    "run": ("command-line", "Scripts"),
    "record": ("record-and-replay", "Record and replay"),
    "replay": ("record-and-replay", "Record and replay"),
    "compile": ("command-line", "Checking a script"),
    "list": ("providers", "Providers"),
    "header": ("command-line", "A header for your own probes"),
    "doctor": ("command-line", "What works on this machine"),
    "tool": ("tools", "Tools"),
    "flame": ("views", "Flame graphs"),
    "page": ("views", "Pages"),
    "merge": ("views", "Results of several runs"),
    "lsp": ("editors", "Language server"),
    "cost predict": ("cost", "Predictions"),
    "cost calibrate": ("cost", "The profile of a machine"),
    "cost validate": ("cost", "Validation"),
    "simulate": ("cost", "Simulation"),
}
DOCUMENTATION = "/usr/share/doc/dvm"
MANUAL_FOLDER = f"{DOCUMENTATION}/docs/manual"


def escape(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("^", "\\(ha").replace("~", "\\(ti").replace("`", "\\(ga")
    return re.sub(r"(?m)^(?=[.'])", r"\\&", text)


def inline(text):
    """Markdown within a paragraph: code, emphasis, links."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    parts = re.split(r"(``.+?``|`[^`]*`|\*\*.+?\*\*|(?<![\w*])\*[a-z ]+\*(?!\w))", text)
    out = ""
    for part in parts:
        if part.startswith(("`", "*")) and len(part) > 2:
            out += "\\fB" + escape(part.strip(part[0]).strip()).replace("\\&", "") + "\\fR"
        else:
            out += escape(part).replace("\\&", "")
    return re.sub(r"(?m)^(?=[.'])", r"\\&", out)


def listing(lines):
    return [".PP", ".RS 4", ".EX", *(escape(line) for line in lines), ".EE", ".RE"]


def item(tag, text):
    return [".TP", tag, text or "\\&"]


def table(rows):
    """Each row is a tagged paragraph; further columns follow the second, with their heads."""
    cells = [[cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row)[1:-1]] for row in rows]
    head, body = cells[0], cells[2:]
    out = []
    for row in body:
        rest = [inline(row[1])] if len(row) > 1 else []
        rest += [f"{inline(name)}: {inline(cell)}" for name, cell in zip(head[2:], row[2:]) if cell]
        out += item(inline(row[0]), "\n.br\n".join(text for text in rest if text))
    return out


class Markdown:
    """One page as roff; `level` is the number of # that become .SH."""

    def __init__(self, level):
        self.level, self.out, self.run = level, [], []

    def end_run(self):
        run, self.run = self.run, []
        if not run:
            return
        text = " ".join(line.strip() for line in run)
        if run[0].startswith("|"):
            self.out += table(run)
        elif run[0].startswith("    "):
            self.out += listing(textwrap.dedent("\n".join(run)).splitlines())
        elif mark := re.match(r"(-|\d+\.) ", text):
            self.out += [".IP " + ("\\(bu 2" if mark[1] == "-" else mark[1] + " 4"), inline(text[mark.end():])]
        else:
            self.out += [".PP", inline(text)]

    def head(self, line):
        depth = len(line) - len(line.lstrip("#"))
        text = line.lstrip("# ")
        self.out.append(f".SH {escape(text.upper())}" if depth <= self.level else f".SS {escape(text)}")

    def add(self, text):
        fence = None
        for line in text.splitlines():
            if line.startswith("```"):
                self.end_run()
                if fence is not None:
                    self.out += listing(fence)
                fence = [] if fence is None else None
            elif fence is not None:
                fence.append(line)
            elif line.startswith("#"):
                self.end_run()
                self.head(line)
            else:
                if not line.strip() or re.match(r"(-|\d+\.) ", line):
                    self.end_run()
                if line.strip():
                    self.run.append(line)
        self.end_run()
        return self.out


def section_of(page, name):
    """From its heading to the next one of any page or section; the first part of a page ends at its first section."""
    found = re.search(rf"(?ms)^##? {re.escape(name)}\n(.*?)(?=^## |\Z)", page)
    return found[0]


def description_of(manual, command):
    if command not in DESCRIPTIONS:
        return []
    page, section = DESCRIPTIONS[command]
    body = section_of((manual / f"{page}.md").read_text(), section).partition("\n")[2]
    if not command:  # the list of pages is of no use here
        body = body.lstrip("\n").partition("\n\n")[0]
    body = re.sub(r"(?ms)^!\[[^\n]*\n|^(The picture shows|In this picture,|The pictures were|The same page in a dark) .*?(?:\n\n|\Z)", "", body)
    return [".SH DESCRIPTION", *Markdown(2).add(body)]


def tools_of(dvm):
    """The page of each tool."""
    out = [".SH TOOLS"]
    for line in subprocess.run([dvm, "tool"], capture_output=True, text=True, check=True).stdout.splitlines():
        name = line.split()[0]
        page = subprocess.run([dvm, "tool", name, "--help"], capture_output=True, text=True, check=True).stdout
        summary, _, rest = page.partition("\n\n")
        out += [f".SS {escape(name)}", escape(summary.partition(": ")[2]) + ".", *listing(rest.strip().splitlines())]
    return out


class Help:
    """What `dvm help COMMAND` prints, in parts."""

    def __init__(self, dvm, command):
        text = subprocess.run([dvm, *command, "--help"], capture_output=True, text=True, check=True).stdout
        lines = text.splitlines()
        self.summary, self.usage = lines[0], lines[1].removeprefix("Usage: ")
        self.sections, self.examples, self.notes = [], [], []
        for line in lines[2:]:
            self.take(line)

    def take(self, line):
        if line == "Examples:":
            self.sections.append((line, []))
        elif re.match(r"\S.*:$", line):
            self.sections.append((line, []))
        elif self.sections and self.sections[-1][0] == "Examples:" and line.strip():
            self.examples.append(line.strip())
        elif line.startswith("  ") and self.sections:
            self.option(line)
        elif line.strip():
            self.notes.append(line)

    def option(self, line):
        options = self.sections[-1][1]
        if line[2] != " ":
            name, _, text = line.strip().partition("  ")
            options.append([name, text.strip()])
        else:
            options[-1][1] += (" " if options[-1][1] else "") + line.strip()

    def commands(self):
        return [name for head, options in self.sections if head == "Subcommands:" for name, _ in options]

    def roff(self):
        out = []
        for head, options in self.sections:
            if options:
                out.append(f".SH {escape(head.rstrip(':').upper())}")
                for name, text in options:
                    out += item(f"\\fB{escape(name.replace(',', ', '))}\\fR", escape(text))
        return out


def title(name, section, version):
    return [f'.TH {name.upper()} {section} "" "dvm {version}" "dvm manual"', ".nh"]


def see_also(pages):
    return [".SH SEE ALSO", ",\n".join(pages), ".PP", f"The manual: \\fI{escape(MANUAL_FOLDER)}/README.md\\fR"]


def page_of(dvm, version, command, further, names, manual):
    """The page of a command; `further` is roff behind its options."""
    text = Help(dvm, command)
    name = "-".join(["dvm", *command])
    summary = text.summary.removeprefix("dvm: ")
    out = title(name, 1, version) + [".SH NAME", f"{escape(name)} \\- {escape(summary)}"]
    out += [".SH SYNOPSIS", f"\\fB{escape(text.usage)}\\fR"]
    out += description_of(manual, " ".join(command)) + text.roff() + further
    if text.notes:
        out += [".SH NOTES", *(escape(note) for note in text.notes)]
    if text.examples:
        out += [".SH EXAMPLES", *listing(text.examples)]
    also = [other for other in names if other != name]
    return name, out + see_also([f"\\fB{escape(other)}\\fR(1)" for other in also] + ["\\fBdvm\\-language\\fR(7)"])


def all_commands(dvm, command=()):
    yield list(command)
    for name in Help(dvm, command).commands():
        yield from all_commands(dvm, [*command, name])


def language_page(version, manual):
    out = title("dvm-language", 7, version) + [".SH NAME", "dvm\\-language \\- D, the language of dvm scripts"]
    for name in LANGUAGE:
        out = out + Markdown(1).add((manual / f"{name}.md").read_text())
    return out + see_also(["\\fBdvm\\fR(1)"])


def dtrace_page(dvm, version, manual):
    """dtrace(8): what dvm is under that name."""
    out = title("dtrace", 8, version) + [".SH NAME", "dtrace \\- dvm with the command line of dtrace"]
    usage = subprocess.run(["dtrace"], executable=dvm, capture_output=True, text=True).stderr
    out += [".SH SYNOPSIS", *listing(usage.removeprefix("Usage: ").splitlines())]
    section = section_of((manual / "command-line.md").read_text(), "As dtrace").partition("\n")[2]
    out += [".SH DESCRIPTION", *Markdown(2).add(section), ".SH OPTIONS"]
    spelled = {name[:2]: name for _, options in Help(dvm, ["run"]).sections for name, _ in options}
    completed = subprocess.run([dvm, "complete", "dtrace -"], capture_output=True, text=True, check=True).stdout
    for name, text in (line.split("\t") for line in completed.splitlines()):
        out += item(f"\\fB{escape(spelled.get(name, name))}\\fR", escape(text))
    return out + see_also(["\\fBdvm\\fR(1)", "\\fBdvm\\-run\\fR(1)", "\\fBdvm\\-language\\fR(7)"])


def write(folder, name, lines):
    """Paths of the sources become those of the installed files."""
    folder.mkdir(parents=True, exist_ok=True)
    text = re.sub(r"(?<![\w/.])(?=(?:docs|examples)/\w)", DOCUMENTATION + "/", "\n".join(lines) + "\n")
    (folder / name).write_text(text)


def main():
    dvm, version, manual, output = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), pathlib.Path(sys.argv[4])
    command_line = (manual / "command-line.md").read_text()
    general = Markdown(2).add("\n".join(section_of(command_line, name) for name in GENERAL))
    further = {"": general, "run": general, "tool": tools_of(dvm)}
    commands = list(all_commands(dvm))
    names = ["-".join(["dvm", *command]) for command in commands]
    for command in commands:
        name, lines = page_of(dvm, version, command, further.get(" ".join(command), []), names, manual)
        write(output / "man1", name + ".1", lines)
    write(output / "man7", "dvm-language.7", language_page(version, manual))
    write(output / "man8", "dtrace.8", dtrace_page(dvm, version, manual))


if __name__ == "__main__":
    main()
