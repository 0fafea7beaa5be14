"""Every command and script of the README and the manual runs, and prints what the page shows.

The first word after the fence gives the kind of a block:
  sh              commands; each block is one shell script that must succeed
  sh not-run      commands that need something that this test does not have
  console         "$ command" lines, each with its output: every line shown must be printed, in this order, whatever its numbers
  d               a script; it must run
  d NAME, c NAME  a file NAME for the commands after it
Commands run in one folder per page, which has the examples and some programs to trace. A dvm that does not end is interrupted.
"""

import os
import pathlib
import re
import shutil
import stat
import subprocess
import tempfile
import unittest

import dvmtest
from dvmtest import DVM, ROOT, program

MANUAL = ROOT / "docs" / "manual"
PAGES = [ROOT / "README.md", *sorted(MANUAL.glob("*.md"))]
PROGRAMS = ("looper", "threads", "types", "forks", "strings")
SECONDS = 8
MOST_NOT_RUN = 13
OF_UPROBES = {"backends", "cost", "placement"}  # pages that show what uprobes are, and their prices
VICTIM = "import time\nwhile True:\n  open('/etc/passwd').read()\n  bytearray(100000)\n  time.sleep(0.002)"

SHIMS = {
    "dvm": f'exec timeout --foreground --preserve-status -s INT -k 20 {SECONDS} "{DVM}" "$@"\n',
    "pgrep": 'echo "$VICTIM"\n',
    "sudo": 'exec "$@"\n',
}


def blocks(page):
    """(line, info string, text) of each fenced block."""
    found, start, info, lines = [], 0, "", []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if not line.startswith("```"):
            lines.append(line)
        elif start:
            found.append((start, info, "\n".join(lines)))
            start = 0
        else:
            start, info, lines = number, line[3:].strip(), []
    return found


def sessions(text):
    """(command, lines shown) of a console block; a command continues in lines that begin with "> "."""
    found = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif line.startswith("> ") and not found[-1][1]:
            found[-1] = (found[-1][0] + "\n" + line[2:], [])
        else:
            found[-1][1].append(line)
    return found


def shape(line):
    """A line without its numbers, bars and blanks."""
    line = re.sub(r"\|@* *(?=\d)", "|", line)
    return " ".join(re.sub(r"0x[0-9a-f]+|-?\d[\d.]*", "N", line).split())


def table_cells(page, language="dvm"):
    """Programs in the column of this language of a table of tasks."""
    column = None
    for line in page.read_text().splitlines():
        if not line.startswith("|"):
            column = None
            continue
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if cells[0] == "task" and language in cells:
            column = cells.index(language)
        elif column is not None and cells[column].startswith("`"):
            yield cells[column].strip("`").strip().replace("\\|", "|")


def is_installed(file):
    """Whether a file of the tree is beside the manual where dvm is installed."""
    path = file.resolve().relative_to(ROOT)
    folders = {"docs": {".md", ".svg", ".png", ".json"}, "examples": {".d"}, ".": {".md"}}
    return file.is_dir() or file.suffix in folders.get(path.parts[0] if len(path.parts) > 1 else ".", {})


class Marks(unittest.TestCase):
    def test_blocks_have_a_known_kind(self):
        kinds = {"sh", "sh not-run", "console", "d"}
        not_run = 0
        for page in PAGES:
            for line, info, _ in blocks(page):
                self.assertTrue(info in kinds or re.fullmatch(r"(d|c) [\w-]+\.(d|c|cpp)", info), f"{page}:{line}: {info!r}")
                not_run += info == "sh not-run"
        self.assertLessEqual(not_run, MOST_NOT_RUN)

    def test_files_are_used(self):
        for page in PAGES:
            files = [(line, info.split()[1]) for line, info, _ in blocks(page) if re.match("[dc] ", info)]
            for line, name in files:
                users = [text for at, info, text in blocks(page) if at > line and info in ("sh", "console") and name in text]
                self.assertNotEqual(users, [], f"{page.name}:{line}: no command uses {name}")

    def test_commands_are_in_fences(self):
        for page in PAGES:
            self.assertNotRegex(page.read_text(), r"(?m)^    (\$ )?(sudo )?dvm ", page.name)

    def test_links_lead_somewhere(self):
        for page in [*PAGES, *(ROOT / "docs").glob("*.md"), *(ROOT / "docs/lab").glob("*.md")]:
            for target, anchor in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", page.read_text()):
                file = page.parent / target if target else page
                self.assertTrue(file.exists(), f"{page.name}: {target}")
                self.assertTrue(page.parent == ROOT or is_installed(file), f"{page.name}: {target} is not installed with it")
                if anchor and file.suffix == ".md":
                    heads = re.findall(r"(?m)^#+ (.*)$", file.read_text())
                    anchors = {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in heads}
                    self.assertIn(anchor, anchors, f"{page.name}: {target}#{anchor}")


class Watched(unittest.TestCase):
    def test_functions_are_those_of_the_table(self):
        text = (MANUAL / "backends.md").read_text()
        listed = re.search(r"An agent watches the functions ([^.]*) of the C library", text).group(1)
        self.assertEqual(re.findall(r"`(\w+)`", listed), [*dvmtest.memory_functions(), "mlockall", "syscall"])


class Bpftrace(dvmtest.PrivilegedTest):
    """bpftrace's side of the translations is accepted by bpftrace, which reads the tracepoints of tracefs."""

    MOUNT = 'test -e /sys/kernel/tracing/events || mount -t tracefs none /sys/kernel/tracing && exec bpftrace -d -e "$1"'

    def test_its_programs_are_accepted(self):
        if not shutil.which("bpftrace"):
            self.skipTest("bpftrace is not installed")
        programs = list(table_cells(MANUAL / "from-bpftrace.md", "bpftrace"))
        self.assertGreater(len(programs), 15)
        for text in programs:
            with self.subTest(program=text):
                text = re.sub(r"\bAPP\b", program("looper"), text)
                result = subprocess.run(["unshare", "-m", "sh", "-c", self.MOUNT, "sh", text], capture_output=True, text=True, timeout=60)
                self.assertEqual(result.returncode, 0, result.stderr)


class Pages(dvmtest.PrivilegedTest):
    def setUp(self):
        super().setUp()
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "bin").mkdir()
        for name, text in SHIMS.items():
            shim = self.folder / "bin" / name
            shim.write_text("#!/bin/sh\n" + text)
            shim.chmod(shim.stat().st_mode | stat.S_IXUSR)
        (self.folder / "bin" / "python3").symlink_to("/usr/bin/python3")
        (self.folder / "examples").symlink_to(ROOT / "examples")
        for name in PROGRAMS:
            (self.folder / name).symlink_to(program(name))
        victim = subprocess.Popen(["/usr/bin/python3", "-c", VICTIM])
        self.addCleanup(victim.wait)
        self.addCleanup(victim.kill)
        self.env = dict(dvmtest.ENV, PATH=f"{self.folder}/bin:{os.environ['PATH']}", VICTIM=str(victim.pid),
                        XDG_CONFIG_HOME=str(self.folder / "config"))

    def run_shell(self, where, text):
        result = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", text], cwd=self.folder, env=self.env, timeout=300,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        return result.returncode, result.stdout

    def check_shell(self, where, text):
        status, output = self.run_shell(where, text)
        self.assertEqual(status, 0, f"{where}\n{text}\n{output}")

    def check_console(self, where, text):
        for command, shown in sessions(text):
            _, output = self.run_shell(where, command)
            printed = iter([shape(line) for line in output.splitlines()])
            for line in shown:
                if line.strip() not in ("", "..."):
                    self.assertIn(shape(line), printed, f"{where}: {command}\nshown: {line}\nprinted:\n{output}")

    def check_script(self, where, text):
        (self.folder / "script.d").write_text(text)
        self.check_shell(where, "dvm run -q -Z -w -s script.d -c './looper 1000'")

    def check_block(self, where, info, text):
        kind, *name = info.split()
        if info == "sh":
            self.check_shell(where, text)
        elif kind == "console":
            self.check_console(where, text)
        elif name:
            (self.folder / name[0]).write_text(text + "\n")
        elif kind == "d":
            self.check_script(where, text)

    def check_page(self, page):
        if page.stem in OF_UPROBES and os.environ.get("DTRACE_OPT_BACKEND") == "agent":
            self.skipTest("it shows uprobes")
        for line, info, text in blocks(page):
            with self.subTest(page=page.name, line=line):
                self.check_block(f"{page.name}:{line}", info, text)
        for text in table_cells(page):
            with self.subTest(page=page.name, program=text):
                self.check_script(f"{page.name}: {text}", text)


def add_test(page):
    setattr(Pages, "test_" + page.stem.replace("-", "_").lower() + ("" if page.parent == MANUAL else "_of_the_project"),
            lambda self: self.check_page(page))


for each in PAGES:
    add_test(each)

if __name__ == "__main__":
    unittest.main()
