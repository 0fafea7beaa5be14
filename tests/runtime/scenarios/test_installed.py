"""What `cmake --install` leaves: links and paths of its documentation lead to files that are there, and dvm runs from there."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import dvmtest

BUILD = pathlib.Path(dvmtest.DVM).resolve().parent.parent


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.prefix = pathlib.Path(folder.name)
        made = subprocess.run(["cmake", "--install", BUILD, "--prefix", cls.prefix], capture_output=True, text=True)
        assert made.returncode == 0, made.stderr
        cls.documents = cls.prefix / "share/doc/dvm"

    def dvm(self, *words, name="bin/dvm"):
        return subprocess.run([self.prefix / name, *words], capture_output=True, text=True, env=dvmtest.ENV, timeout=120)

    def test_links_between_documents(self):
        pages = list(self.documents.rglob("*.md"))
        self.assertGreater(len(pages), 30)
        for page in pages:
            text = re.sub(r"(?ms)^```.*?^```", "", page.read_text())
            for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
                if "://" not in link:
                    self.assertTrue((page.parent / link).exists(), f"{page.relative_to(self.prefix)}: {link}")

    def test_paths_of_documents_and_examples(self):
        """They begin in the folder of the documentation."""
        for page in [self.documents / "README.md", *(self.documents / "docs/manual").glob("*.md")]:
            for path in re.findall(r"(?<![\w/.$])(?:docs|examples)/[\w./-]*\w", page.read_text()):
                self.assertTrue((self.documents / path).exists(), f"{page.name}: {path}")

    def test_paths_of_man_pages(self):
        pages = list((self.prefix / "share/man").rglob("*.[178]"))
        self.assertGreater(len(pages), 10)
        for page in pages:
            text = page.read_text().replace("\\-", "-")
            for path in re.findall(r"/usr/(?:share|lib)/[\w./-]*\w", text):
                self.assertTrue((self.prefix / path.removeprefix("/usr/")).exists(), f"{page.name}: {path}")

    def test_paths_of_help(self):
        text = self.dvm("run", "--help").stdout
        found = re.findall(r"[\w./-]*share/doc/dvm/[\w./-]*\w", text.replace("\n" + " " * 30, ""))
        self.assertTrue(any(path.endswith("docs/json.md") for path in found), text)
        for path in found:
            self.assertTrue(os.path.exists(path), path)

    def test_no_folder_is_empty_and_no_link_is_broken(self):
        for path in self.prefix.rglob("*"):
            self.assertTrue(path.exists(), path)
            self.assertFalse(path.is_dir() and not any(path.iterdir()), path)

    def test_every_kind_of_file_is_there(self):
        for file in ("bin/dvm", "sbin/dtrace", "lib/dvm/tools/opensnoop.d", "share/man/man1/dvm-run.1", "share/man/man7/dvm-language.7", "share/man/man8/dtrace.8",
                     "share/bash-completion/completions/dvm", "share/bash-completion/completions/dtrace", "share/zsh/vendor-completions/_dvm",
                     "share/fish/vendor_completions.d/dvm.fish", "share/fish/vendor_completions.d/dtrace.fish", "share/doc/dvm/examples/latency.d",
                     "share/doc/dvm/LICENSE", "share/doc/dvm/copyright", "share/dvm/editors/neovim.lua"):
            self.assertTrue((self.prefix / file).is_file(), file)

    def test_it_runs(self):
        script = 'BEGIN { printf("%s %d\\n", curpsinfo->pr_fname, $1); exit(3); }'
        for name, words in (("bin/dvm", ["run", "-q"]), ("sbin/dtrace", ["-q"])):
            result = self.dvm(*words, "-n", script, "42", name=name)
            self.assertEqual((result.returncode, result.stdout.split()[1:]), (3, ["42"]), result.stderr)
        self.assertEqual(len(self.dvm("tool").stdout.splitlines()), 16)


if __name__ == "__main__":
    unittest.main()
