"""The ready scripts of tools/, each on a workload that it is for."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

import dvmtest
from dvmtest import ROOT, dvm, program

NAMES = sorted(path.stem for path in (ROOT / "tools").glob("*.d"))

LOCKS = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
void *kept[100];
void *worker(void *unused) {
  for (int i = 0; i < 20; i++) { pthread_mutex_lock(&lock); usleep(1000); pthread_mutex_unlock(&lock); usleep(10); }
  return unused;
}
__attribute__((noinline)) void leak(void) { for (int i = 0; i < 7; i++) kept[i] = malloc(1000); }
__attribute__((noinline)) void tidy(void) { for (int i = 0; i < 50; i++) { void *volatile p = malloc(500); p = realloc(p, 700); free(p); } }
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, worker, 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
  leak();
  tidy();
  return 0;
}
"""

# Two queries with the markers of a PostgreSQL server, the second slow.
QUERIES = """
#include <unistd.h>
#include "server.h"
int main(void) {
  POSTGRESQL_QUERY_START("select 1");
  POSTGRESQL_QUERY_DONE("select 1");
  POSTGRESQL_QUERY_START("select pg_sleep(0.05)");
  usleep(50000);
  POSTGRESQL_QUERY_DONE("select pg_sleep(0.05)");
  return 0;
}
"""


class Pages(unittest.TestCase):
    def test_the_sixteen_are_listed_with_a_line_each(self):
        result = dvm("tool")
        self.assertEqual(result.returncode, 0)
        rows = re.findall(r"^(\w+) +(\S.{10,})$", result.stdout, re.M)
        self.assertEqual([name for name, _ in rows], NAMES)
        self.assertEqual(len(NAMES), 16)

    def test_each_has_a_page_with_its_options(self):
        for name in NAMES:
            text = (ROOT / f"tools/{name}.d").read_text()
            page = dvm("tool", name, "--help")
            self.assertEqual(page.returncode, 0, page.stderr)
            self.assertTrue(page.stdout.startswith(f"{name}: "), page.stdout)
            self.assertIn(f"Usage: dvm tool {name} ", page.stdout)
            for option in re.findall(r"^ \*   (\S+) .*\$\d", text, re.M):
                self.assertRegex(page.stdout, rf"(?m)^  {re.escape(option)} ")
            self.assertNotRegex(page.stdout, r"\$\d")

    def test_every_macro_argument_is_declared_once(self):
        for name in NAMES:
            text = (ROOT / f"tools/{name}.d").read_text()
            page, body = text.split(" */\n", 1)
            declared = re.findall(r"^ \*   \S.*?\$(\d)", page, re.M)
            self.assertEqual(declared, [str(n + 1) for n in range(len(declared))], name)
            self.assertEqual(sorted(set(re.findall(r"\$(\d)", body))), declared, name)

    def test_wrong_use_says_what_is_wrong(self):
        for words, message in (
                (["nosuch"], "there is no tool 'nosuch'; 'dvm tool' lists them"),
                (["opensnop"], "there is no tool 'opensnop'; 'dvm tool' lists them\n    hint: did you mean 'dvm tool opensnoop'?"),
                (["opensnoop", "-q"], "tool opensnoop: there is no option '-q'\n    for more, see dvm tool opensnoop --help"),
                (["opensnoop", "-d"], "tool opensnoop: -d needs SECONDS"),
                (["opensnoop", "-d", "long"], "tool opensnoop: -d takes a number, not 'long'"),
                (["opensnoop", "x"], "tool opensnoop: 'x' is one operand too many: dvm tool opensnoop [OPTIONS]"),
                (["funccount", "-p", "1"], "tool funccount: FUNCTION is missing: dvm tool funccount (-p PID | -c 'CMD ARGS') [OPTIONS] FUNCTION [MODULE]"),
                (["funccount", "x"], "tool funccount: name a process by -p PID, or start one by -c 'CMD ARGS'"),
                (["funccount", "-p", "x", "f"], "tool funccount: 'x' is not the number of a process")):
            result = dvm("tool", *words)
            self.assertEqual((result.returncode, result.stdout, result.stderr), (2, "", f"dvm: {message}\n"))

