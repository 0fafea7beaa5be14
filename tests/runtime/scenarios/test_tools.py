"""The ready scripts of tools/, each on a workload that it is for."""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
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

# Leaks by each function, some through one helper, so that only the whole stack tells who leaks; and blocks that do not leak.
LEAKS = """
#define _GNU_SOURCE
#include <malloc.h>
#include <stdlib.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define APART __attribute__((noinline))
void *kept[1000];
int count;
APART void *helper(size_t size) { void *volatile p = malloc(size); kept[count++] = p; return p; }
APART void first(void) { for (int i = 0; i < 5; i++) helper(100); }
APART void second(void) { for (int i = 0; i < 3; i++) helper(1000); }
APART void released(void) { for (int i = 0; i < 50; i++) free(helper(10)); }
APART void cleared(void) { kept[count++] = calloc(10, 33); }
APART void aligned(void) { kept[count++] = aligned_alloc(64, 640); kept[count++] = memalign(32, 32); free(aligned_alloc(64, 128)); }
APART void *wrapped(size_t size) { void *p; return posix_memalign(&p, 64, size) ? 0 : p; }
APART void placed(void) {
  for (int i = 0; i < 100; i++) kept[count++] = wrapped(200);
  for (int i = 0; i < 98; i++) free(kept[--count]);
}
APART void refused(void) { void *p; posix_memalign(&p, 3, 100); }
APART void resized(void) {
  void *volatile p = malloc(70);
  p = realloc(p, 7000);
  p = realloc(p, 700);
  void *volatile same = realloc(p, (size_t)1 << 62);
  kept[count++] = same ? same : p;
  p = realloc(malloc(20), 0);
  kept[count++] = reallocarray(0, 3, 50);
}
APART void empty(void) { kept[count++] = malloc(0); }
APART void mapped(void) {
  munmap(mmap(0, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 8192);
  kept[count++] = mmap(0, 40960, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}
APART void *thread(void *block) { free(block); kept[count++] = malloc(123); return 0; }
APART void moved(void) {
  pthread_t id;
  pthread_create(&id, 0, thread, malloc(321));
  pthread_join(id, 0);
}
int main(void) {
  first(), second(), released(), cleared(), aligned(), placed(), refused(), resized(), empty(), mapped(), moved();
  return 0;
}
"""

# Holds of a mutex with a wait for a condition in between, by trylock (and one that fails), and of a recursive mutex.
HOLDS = """
#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>
#include <time.h>
pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, tried = PTHREAD_MUTEX_INITIALIZER, timed = PTHREAD_MUTEX_INITIALIZER, late = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t again = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
struct timespec soon(int clock, int ms) {
  struct timespec t;
  clock_gettime(clock, &t);
  t.tv_nsec += ms * 1000000L;
  return t.tv_sec += t.tv_nsec / 1000000000, t.tv_nsec %= 1000000000, t;
}
__attribute__((noinline)) void waits(void) {
  pthread_mutex_lock(&plain);
  struct timespec t = soon(CLOCK_REALTIME, 300);
  pthread_cond_timedwait(&condition, &plain, &t);
  t = soon(CLOCK_MONOTONIC, 300);
  pthread_cond_clockwait(&condition, &plain, CLOCK_MONOTONIC, &t);
  usleep(2000);
  pthread_mutex_unlock(&plain);
}
__attribute__((noinline)) void tries(void) {
  for (int i = 0; i < 5; i++)
    if (!pthread_mutex_trylock(&tried)) { pthread_mutex_trylock(&tried); usleep(1000); pthread_mutex_unlock(&tried); }
  struct timespec t = soon(CLOCK_REALTIME, 0);
  pthread_mutex_lock(&late);
  pthread_mutex_timedlock(&late, &t);  // times out
  usleep(1000);
  pthread_mutex_unlock(&late);
  pthread_mutex_timedlock(&timed, &t);
  usleep(1000);
  pthread_mutex_unlock(&timed);
}
__attribute__((noinline)) void repeats(void) {
  pthread_mutex_lock(&again);
  pthread_mutex_lock(&again);
  pthread_mutex_unlock(&again);
  usleep(50000);
  pthread_mutex_unlock(&again);
}
int main(void) { waits(); tries(); repeats(); return 0; }
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
                (["opensnoop", "-d", "long"], "tool opensnoop: -d takes a number from 0 to 1000000000000, not 'long'"),
                (["profile", "-r", "0"], "tool profile: -r takes a number from 1 to 5000, not '0'"),
                (["argdist", "-p", "1", "f", "-a", "arg99"], "tool argdist: -a takes arg0 to arg9, not 'arg99'"),
                (["opensnoop", "-p", "0"], "tool opensnoop: there is no process 0"),
                (["funccount", "-p", "1", ""], "tool funccount: FUNCTION is a name or a pattern, not ''"),
                (["funccount", "-p", "1", "a\"b"], "tool funccount: FUNCTION is a name or a pattern, not 'a\"b'"),
                (["funccount", "-p", "1", "f", "a\nb"], "tool funccount: MODULE is a name or a pattern, not 'a\\nb'"),
                (["opensnoop", "-p", "99999999"], "tool opensnoop: there is no process 99999999"),
                (["memleak", "-t", "-5"], "tool memleak: -t takes a number from 1 to 1000000, not '-5'"),
                (["opensnoop", "x"], "tool opensnoop: 'x' is one operand too many: dvm tool opensnoop [OPTIONS]"),
                (["funccount", "-p", "1"], "tool funccount: FUNCTION is missing: dvm tool funccount (-p PID | -c 'CMD ARGS') [OPTIONS] FUNCTION [MODULE]"),
                (["funccount", "x"], "tool funccount: name a process by -p PID, or start one by -c 'CMD ARGS'"),
                (["funccount", "-p", "x", "f"], "tool funccount: invalid pid: x"),
                (["funccount", "-p", "12abc", "f"], "tool funccount: invalid pid: 12abc")):
            result = dvm("tool", *words)
            self.assertEqual((result.returncode, result.stdout, result.stderr), (2, "", f"dvm: {message}\n"))


    def test_every_option_refuses_other_values_in_one_line(self):
        for name in NAMES:
            for flag, value in re.findall(r"(?m)^  (-\w) ([A-Z]+) ", dvm("tool", name, "--help").stdout):
                if value == "NAME":
                    continue
                for bad in ("", "x", "-9", "1.5", "0x", "arg10", "1;exit(0)", "99999999999999999999"):
                    result = dvm("tool", name, flag, bad)
                    self.assertEqual((result.returncode, result.stdout), (2, ""), (name, flag, bad))
                    self.assertRegex(result.stderr, rf"^dvm: tool {name}: {flag} takes [^\n]+, not '{re.escape(bad)}'\n$")

    def test_no_option_is_listed_twice(self):
        for name in NAMES:
            options = re.findall(r"(?m)(?:^  |, )(--?\w+)(?= |:|,)", dvm("tool", name, "--help").stdout.partition("\n\n")[2])
            self.assertEqual(len(options), len(set(options)), name)

    def test_columns_are_named(self):
        for name in NAMES:
            columns = re.findall(r"(?m)^Columns( of [\w ]+)? with --json: (.*)", dvm("tool", name, "--help").stdout)
            self.assertTrue(columns, name)
            self.assertEqual(len({of for of, _ in columns}), len(columns), columns)
            for _, names in columns:
                self.assertRegex(names, r"^\w+(, \w+)*$", name)


class OnWorkloads(dvmtest.PrivilegedTest):
    def tool(self, *words, status=0):
        result = dvm("tool", *words)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stdout

    def build(self, source):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        path = pathlib.Path(holder.name) / "program"
        subprocess.run(["gcc", "-O1", "-g", "-fno-omit-frame-pointer", "-x", "c", "-", "-o", path, "-pthread"], input=source, text=True,
                       check=True)
        return str(path)

    def while_running(self, command, *words, of=None):
        """The tool's output, or what `of` makes of it, over a time in which the command runs again and again."""
        process = subprocess.Popen(["sh", "-c", f"while :; do {command}; done"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            return (of or self.tool)(*words)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def test_a_reader_that_has_gone_is_no_crash(self):
        with subprocess.Popen([dvmtest.DVM, "tool", "ugc", "-c", "sleep 0.2"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=dvmtest.ENV) as process:
            process.stdout.close()
            self.assertEqual(process.wait(timeout=120), 1)

    def test_probes_that_are_not_there_are_named_in_one_line(self):
        looper = program("looper") + " 10"
        for words, message in (
                (["funccount", "-c", looper, "nosuch"], r"tool funccount: these probes are not there: pid\d+:a.out:nosuch:entry \(.*nosuch.*\)"),
                (["ugc", "-c", looper], r"tool ugc: none of these probes is there: python\d+:::gc-start, ruby\d+.*"),
                (["dbslower", "-c", looper], r"tool dbslower: none of these probes is there: postgresql\d+:::query-start, .*")):
            result = dvm("tool", *words)
            self.assertEqual(result.returncode, 1)
            self.assertNotIn("TIME", result.stdout)  # no head
            self.assertRegex(result.stderr, rf"^dvm: {message}\n$")

    def test_tools_of_a_process_end_with_it(self):
        def ends(words):
            seconds = 10  # it is to live until the probes of all tools are placed, also on a loaded machine
            with subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({seconds})"]) as process:
                result = dvm("tool", *words, "-p", str(process.pid), timeout=120)
                self.assertEqual(result.returncode, 0, (words, result.stderr))
                self.assertRegex(result.stderr, r"^(dvm: \d+ stacks? ends? where the captured part .*\n)?$", words)
                self.assertIsNotNone(process.poll(), words)

        dvmtest.together(ends, (["opensnoop"], ["syscount"], ["profile"], ["profile", "-k"], ["runqlat"], ["offcputime"], ["offcputime", "-k"],
                                ["funccount", "nanosleep", "libc*"], ["memleak"], ["threadsnoop"]))

    def rows(self, *words):
        """The rows of the tool in JSON, and the columns that its page names."""
        lines = [json.loads(line) for line in self.tool(*words, "--json").splitlines() if line.startswith("{")]
        rows = []
        for action in (action for line in lines for action in line.get("actions", [])):
            rows += [one["row"] for one in [action, *action.get("rows", [])] if "row" in one]
        columns = [set(names.split(", ")) for names in re.findall(r"(?m)^Columns.*: (.*)$", dvm("tool", words[0], "--help").stdout)]
        for row in rows:
            self.assertIn(set(row), columns, words)
        return rows

    def test_rows_in_json_have_names(self):
        looper = program("looper") + " 1000"
        self.assertEqual(self.rows("funccount", "func", "-c", looper), [{"module": "looper", "function": "func", "count": 1000}])
        rows = self.rows("funclatency", "func", "-c", looper)
        self.assertEqual(rows[0], {"unit": "nanoseconds"})
        self.assertEqual(sum(bucket["count"] for bucket in rows[1]["distribution"]["buckets"]), 1000)
        rows = self.rows("stackcount", "func", "-c", looper)
        self.assertEqual((rows[-1]["count"], rows[-1]["stack"]["frames"][0]["function"]), (1000, "func"))
        locks = self.build(LOCKS)
        self.assertIn({"function": "malloc", "value": 1000, "count": 7}, self.rows("argdist", "malloc", "libc*", "-v", "-c", locks))
        self.assertEqual(max(row["count"] for row in self.rows("plockstat", "-c", locks)), 40)
        self.assertEqual([row["function"]["function"] for row in self.rows("threadsnoop", "-c", locks)], ["worker"] * 2)
        self.assertTrue(self.rows("memleak", "-c", locks))
        tools = (["syscount"], ["opensnoop", "-n", "cat"], ["execsnoop", "-n", "cat"], ["runqlat"], ["profile"], ["profile", "-k"], ["offcputime", "-k"])
        for words, rows in zip(tools, self.while_running("cat /etc/passwd; sleep 0.05", of=lambda: dvmtest.together(
                lambda words: self.rows(*words, "-d", "2"), tools))):
            self.assertTrue(rows, words)

    def test_execsnoop(self):
        output = self.while_running("/bin/true one two; sleep 0.1", "execsnoop", "-n", "true", "-d", "2")
        self.assertRegex(output, r"^TIME\(ms\) +PID +PPID +UID +ARGS\n")
        self.assertRegex(output, r"(?m)^\d+ +\d+ +\d+ +0 +/bin/true one two$")

    def test_opensnoop(self):
        output = self.while_running("cat /etc/passwd /nosuch; sleep 0.1", "opensnoop", "-n", "cat", "-d", "2")
        self.assertRegex(output, r"(?m)^\d+ +cat +\d+ +0 /etc/passwd$")
        self.assertRegex(output, r"(?m)^\d+ +cat +-1 +2 /nosuch$")
        output = self.while_running("cat /etc/passwd /nosuch; sleep 0.1", "opensnoop", "-n", "cat", "-e", "-d", "2")
        self.assertIn("/nosuch", output)
        self.assertNotIn("/etc/passwd", output)

    def test_syscount(self):
        output = self.while_running("cat /etc/passwd; sleep 0.1", "syscount", "-d", "2")
        self.assertRegex(output, r"(?m)^read +\d+ +\d+$")
        self.assertNotRegex(output, r"(?m) 0 +\d+$")
        output = self.while_running("cat /etc/passwd; sleep 0.1", "syscount", "-P", "-d", "2")
        self.assertRegex(output, r"(?m)^cat +\d+ +\d+$")

    def test_funccount(self):
        self.assertRegex(self.tool("funccount", "func", "-c", program("looper") + " 1000"), r"(?m)^looper +func +1000$")

    def test_funclatency(self):
        output = self.tool("funclatency", "func", "-c", program("looper") + " 1000")
        self.assertIn("\nnanoseconds\n", output)
        counts = re.findall(r"\|@* +(\d+)", output)
        self.assertEqual(sum(map(int, counts)), 1000)
        self.assertIn("\nmicroseconds\n", self.tool("funclatency", "-u", "func", "-c", program("looper") + " 10"))

    def test_argdist(self):
        locks = self.build(LOCKS)
        output = self.tool("argdist", "malloc", "libc*", "-v", "-c", locks)
        self.assertRegex(output, r"(?m)^malloc +1000 +7$")
        output = self.tool("argdist", "realloc", "libc*", "-a", "arg1", "-c", locks)
        self.assertRegex(output, r"512 \|@+ 50")

    def test_stackcount(self):
        output = self.tool("stackcount", "malloc", "libc*", "-c", self.build(LOCKS))
        self.assertRegex(output, r"malloc\n +program`leak\+0x[0-9a-f]+\n +program`main\+0x[0-9a-f]+\n(?:.*\n)*? +7\n")

    def test_profile(self):
        output = self.while_running(program("looper") + " 100000000", "profile", "-d", "2")
        self.assertRegex(output, r"looper *\n +looper`(func|main)")

    def test_profile_with_the_kernel(self):
        output = self.while_running("dd if=/dev/zero of=/dev/null bs=1 count=300000", "profile", "-k", "-d", "2")
        self.assertRegex(output, r"dd *\n(?: +vmlinux`[\w.]+\+0x\w+\n)+")

    def test_offcputime(self):
        process = subprocess.Popen(["python3", "-c", "import time\nwhile True: time.sleep(0.1)"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        output = self.tool("offcputime", "-p", str(process.pid), "-d", "2")
        self.assertRegex(output, r"python\S* *\n +libc\.so\.6`\w*(nanosleep|select)\+")
        self.assertGreater(max(dvmtest.numbers(re.sub(r"0x[0-9a-f]+", "", output))), 100_000, output)

    def test_offcputime_in_the_kernel(self):
        process = subprocess.Popen(["python3", "-c", "import time\nwhile True: time.sleep(0.1)"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        output = self.tool("offcputime", "-k", "-p", str(process.pid), "-d", "2")
        self.assertRegex(output, r"python\S* *\n(?: +vmlinux`[\w.]+\+0x\w+\n)*? +vmlinux`\w*nanosleep\+")
        self.assertGreater(max(dvmtest.numbers(re.sub(r"0x[0-9a-f]+", "", output))), 100_000, output)

    def test_offcputime_in_the_kernel_and_the_program(self):
        if b"sched_exit_tp" not in pathlib.Path("/sys/kernel/btf/vmlinux").read_bytes():
            self.skipTest("the kernel has no tracepoint sched_exit_tp")
        process = subprocess.Popen(["python3", "-c", "import time\nwhile True: time.sleep(0.1)"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        output = self.tool("offcputime", "-b", "-p", str(process.pid), "-d", "2")
        self.assertRegex(output, r"(?s)python\S* *\n(?: +vmlinux`[\w.]+\+0x\w+\n)+.* libc\.so\.6`\w*(nanosleep|select)\+")

    def test_functions_of_cxx_need_no_quotes(self):
        for name in ("zoo::Cat::feed", "zoo::Cat::f*", '"zoo::Cat::feed"'):
            self.assertRegex(self.tool("funccount", name, "-c", program("classes")), r"(?m)^classes +zoo::Cat::feed +1$")

    def test_a_tool_whose_probes_are_refused_fails(self):
        result = dvm("tool", "funclatency", "_start", "-c", program("looper") + " 10")
        self.assertEqual((result.returncode, result.stdout), (1, ""), result.stderr)
        self.assertRegex(result.stderr, r"dvm: tool funclatency: none of the probes pid\d+:a.out:_start:return could be enabled\n$")
        self.assertRegex(result.stderr, r"1 probe left out, pid\d+:looper:_start:return: ")

    def test_runqlat(self):
        output = self.while_running("sleep 0.01", "runqlat", "-d", "2")
        self.assertRegex(output, r"^microseconds\nall programs\n +value  -+ Distribution -+ count")

    def test_biolatency(self):
        # A dd that was just killed may still close its file: the folder then cannot be removed at the first try.
        with tempfile.TemporaryDirectory(dir="/var/tmp", ignore_cleanup_errors=True) as folder:
            output = self.while_running(f"dd if=/dev/zero of={folder}/x bs=64k count=4 oflag=direct conv=fsync", "biolatency", "-d", "2")
        self.assertTrue(output.startswith("microseconds\n"), output)

    def leaks(self, *options):
        """By the functions of the program that called, innermost first: live bytes and blocks."""
        found = {}
        for row in self.rows("memleak", *options, "-c", self.build(LEAKS)):
            names = [frame.get("function") for frame in row["stack"]["frames"] if frame.get("module") == "program"]
            bytes_and_blocks = found.setdefault(" ".join(names[:2]).removesuffix(" main"), [0, 0])
            bytes_and_blocks[0] += row.get("bytes", 0)
            bytes_and_blocks[1] += row.get("blocks", 0)
        return {names: tuple(sizes) for names, sizes in found.items()}

    def test_memleak(self):
        expected = {"helper first": (500, 5), "helper second": (3000, 3), "cleared": (330, 1), "aligned": (672, 2), "wrapped placed": (400, 2), "resized": (850, 2), "empty": (0, 1),
                    "thread": (123, 1)}
        leaks = self.leaks("-t", "100")
        self.assertEqual({names: leaks.get(names) for names in expected}, expected)
        self.assertNotIn("helper released", leaks)
        self.assertNotIn("refused", leaks)
        self.assertNotIn("mapped", leaks)
        self.assertEqual(self.leaks("-t", "100", "-m")["mapped"], (40960, 1))

    def test_memleak_prints_stacks(self):
        output = self.tool("memleak", "-t", "100", "-c", self.build(LEAKS))
        of_bytes, of_blocks = output.split("LIVE BLOCKS BY STACK")
        self.assertRegex(of_bytes, r"program`helper\+0x[0-9a-f]+\n *program`second\+0x[0-9a-f]+\n *program`main\+0x.*\n(.+\n)* +1000 bytes\n")
        self.assertRegex(of_blocks, r"program`helper\+0x[0-9a-f]+\n *program`second\+0x[0-9a-f]+\n *program`main\+0x.*\n(.+\n)* +1 blocks\n")
        self.assertNotRegex(output, r"\b0 (bytes|blocks)|posix_memalign (are|have)")

    def test_plockstat(self):
        output = self.tool("plockstat", "-c", self.build(LOCKS))
        waits, holds = output.split("Mutex hold\n")
        self.assertRegex(waits, r"(?m)^ +\d+ +\d{6,} program`lock +program`worker\+0x")
        self.assertRegex(holds, r"(?m)^ +40 +\d{8,} program`lock +program`worker\+0x")

    def test_holds_of_plockstat_end_when_the_mutex_is_free(self):
        holds = self.tool("plockstat", "-c", self.build(HOLDS)).partition("Mutex hold\n")[2]
        rows = {}
        for count, time, function in re.findall(r"(?m)^ +(\d+) +(\d+) \S+ +program`(\w+)\+0x\w+$", holds):
            rows.setdefault(function, []).append((int(count), int(time)))
        self.assertEqual(sorted(count for count, _ in rows["waits"]), [1, 1, 1], holds)  # before, between and behind two waits
        self.assertLess(sum(time for _, time in rows["waits"]), 300_000_000, holds)
        self.assertGreater(max(time for _, time in rows["waits"]), 2_000_000, holds)
        self.assertEqual(sorted(count for count, _ in rows["tries"]), [1, 1, 5], holds)
        self.assertGreater(min(time for _, time in rows["tries"]), 1_000_000, holds)
        self.assertEqual([count for count, _ in rows["repeats"]], [1], holds)
        self.assertGreater(rows["repeats"][0][1], 50_000_000, holds)

    def test_threadsnoop(self):
        output = self.tool("threadsnoop", "-c", self.build(LOCKS))
        self.assertEqual(len(re.findall(r"(?m)^\d+ +\d+ +\d+ +program +program`worker$", output)), 2, output)

    def test_dbslower(self):
        with tempfile.TemporaryDirectory() as folder:
            header = subprocess.run([dvmtest.DVM, "header", "-o", f"{folder}/server.h", "-s", "/dev/stdin"], text=True, env=dvmtest.ENV,
                                    input="provider postgresql { probe query__start(char *); probe query__done(char *); };")
            self.assertEqual(header.returncode, 0)
            subprocess.run(["gcc", f"-I{folder}", "-x", "c", "-", "-o", f"{folder}/server"], input=QUERIES, text=True, check=True)
            output = self.tool("dbslower", "-m", "20", "-c", f"{folder}/server")
        self.assertRegex(output, r"^TIME\(ms\) PID     DURATION\(us\) QUERY\n\d+ +\d+ +[5-9]\d{4} select pg_sleep\(0\.05\)\n*$")
        self.assertNotIn("select 1", output)

    def python_with_markers(self):
        for path in ("/usr/bin/python3", shutil.which("python3")):
            notes = subprocess.run(["readelf", "-n", os.path.realpath(path)], capture_output=True, text=True).stdout
            if "gc__start" in notes:
                return path
        dvmtest.skip_or_fail(self, "no python that was built with markers")

    def test_ugc(self):
        python = self.python_with_markers()
        script = pathlib.Path(self.build("int main(void) { return 0; }")).with_name("collect.py")
        script.write_text("import gc\nfor _ in range(5):\n    gc.collect()\n")
        output = self.tool("ugc", "-c", f"{python} {script}")
        self.assertGreaterEqual(len(re.findall(r"(?m)^\d+ +python +\d+$", output)), 5, output)
        self.assertIn("Distribution", output)

    def test_ugc_of_a_virtual_machine_that_loads_late(self):
        if not shutil.which("java"):
            dvmtest.skip_or_fail(self, "no java")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        source = pathlib.Path(folder.name) / "Collect.java"
        source.write_text("class Collect { public static void main(String[] a) { for (int i = 0; i < 5; i++) System.gc(); } }")
        output = self.tool("ugc", "-c", f"java -XX:+UseSerialGC {source}")
        self.assertGreaterEqual(len(re.findall(r"(?m)^\d+ +hotspot +\d+$", output)), 5, output)


if __name__ == "__main__":
    unittest.main()
