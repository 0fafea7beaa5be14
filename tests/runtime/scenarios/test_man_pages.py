"""The man pages: made from `dvm help` and the manual, accepted by groff without a warning."""

import re
import shutil
import subprocess
import sys
import unittest

import dvmtest
from dvmtest import DVM, ROOT


class ManPages(unittest.TestCase):
    def setUp(self):
        self.folder = dvmtest.own_folder(self)
        subprocess.run([sys.executable, ROOT / "docs/man/make_pages.py", DVM, "1.2", ROOT / "docs/manual", self.folder],
                       check=True, env=dvmtest.ENV)
        self.pages = sorted(self.folder.glob("man?/*"))

    def test_every_command_has_a_page(self):
        names = {page.stem for page in self.pages}
        commands = re.findall(r"(?m)^  (\w+) {2,}\w", dvmtest.dvm("--help").stdout.partition("Subcommands:")[2].partition("Examples:")[0])
        self.assertIn("run", commands)
        self.assertLessEqual({"dvm", "dvm-language", "dvm-cost-predict", *(f"dvm-{name}" for name in commands)}, names)

    def test_the_name_dtrace_has_one(self):
        page = (self.folder / "man8" / "dtrace.8").read_text()
        self.assertIn("dtrace \\- dvm with the command line of dtrace\n", page)
        self.assertRegex(page, r"(?m)^\\fB\\-n SCRIPT\\fR\nD script")
        self.assertIn("\\-A\\fR", page)  # why it is refused
        self.assertIn("[\\-x opt[=val]]", page)

    def test_paths_are_those_of_installed_files(self):
        for page in self.pages:
            self.assertNotRegex(page.read_text(), r"(?<![\w/])(docs|examples)/\w", page.name)
        self.assertIn("/usr/share/doc/dvm/examples/latency.d", (self.folder / "man1" / "dvm-run.1").read_text())

    def test_groff_accepts_them(self):
        if shutil.which("groff") is None:
            self.skipTest("there is no groff")
        for page in self.pages:
            made = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-Kutf8", page], capture_output=True, text=True)
            self.assertEqual((made.returncode, made.stderr), (0, ""), page.name)

    def test_commands_are_described(self):
        for name in ("dvm", "dvm-run", "dvm-replay", "dvm-flame", "dvm-merge", "dvm-lsp", "dvm-doctor", "dvm-cost-predict"):
            page = (self.folder / "man1" / f"{name}.1").read_text()
            self.assertRegex(page, r"(?m)^\.SH DESCRIPTION\n\.PP\n", name)
            self.assertIn("/usr/share/doc/dvm/docs/manual/README.md", page)

    def test_sections_have_short_names(self):
        for page in self.pages:
            for title in re.findall(r"(?m)^\.SH (.*)$", page.read_text()):
                self.assertLessEqual(len(title.split()), 4, page.name)

    def test_each_tool_has_its_options(self):
        page = (self.folder / "man1" / "dvm-tool.1").read_text()
        for tool in (ROOT / "tools").glob("*.d"):
            self.assertIn(f".SS {tool.stem}\n", page)
        self.assertIn("\\-e            Only opens that failed\n", page)

    def test_pictures_are_left_out_with_their_text(self):
        for page in ("dvm-page.1", "dvm-flame.1"):
            self.assertNotIn("picture", (self.folder / "man1" / page).read_text())

    def test_an_option_keeps_its_text(self):
        page = (self.folder / "man1" / "dvm-run.1").read_text()
        self.assertIn(".TP\n\\fB\\-q\\fR\nPrint only the output of the script\n", page)
        self.assertIn("dvm run script.d \\-c './program \\-\\-flag'", page)
        self.assertIn('.TH DVM-RUN 1 "" "dvm 1.2"', page)

    def test_the_language_page_has_code_and_tables(self):
        page = (self.folder / "man7" / "dvm-language.7").read_text()
        self.assertIn(".EX\ntranslator OUTPUT < INPUT NAME > { member = expression; ... };\n.EE", page)
        self.assertIn(".TP\n\\fB#pragma D option NAME[=VALUE]\\fR\nas \\fB\\-x\\fR", page)
        self.assertNotIn("](", page)
        self.assertNotRegex(page, r"(?m)^\|")


if __name__ == "__main__":
    unittest.main()
