"""The ready scripts of tools/ that trace the functions and markers of a program, each on a workload that it is for."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import dvmtest
import tool_runs
from dvmtest import dvm, program

# Where step_leaf ends is not known.
STEPS = """
#include <unistd.h>
__attribute__((noinline)) void step_leaf(void) { __asm__ volatile("lea 1f(%rip), %rax; jmp *%rax; 1:"); }
__attribute__((noinline)) void step_outer(void) { usleep(20000); step_leaf(); __asm__ volatile(""); }
int main(void) {
  for (int i = 0; i < 2000; i++) step_leaf();
  for (int i = 0; i < 3; i++) step_outer();
}
"""

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


class OnWorkloads(tool_runs.ToolTest):
    def build(self, source):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        path = pathlib.Path(holder.name) / "program"
        subprocess.run(["gcc", "-O1", "-g", "-fno-omit-frame-pointer", "-x", "c", "-", "-o", path, "-pthread"], input=source, text=True,
                       check=True)
        return str(path)

    def test_a_reader_that_has_gone_is_no_crash(self):
        with subprocess.Popen([dvmtest.DVM, "tool", "ugc", "-c", "sleep 0.2"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env=dvmtest.ENV) as process:
            process.stdout.close()
            self.assertEqual(process.wait(timeout=120), 1)

    def test_probes_that_are_not_there_are_named_in_one_line(self):
        looper = program("looper") + " 10"
        for words, message in (
                (["funccount", "-c", looper, "nosuch"], r"tool funccount: these probes do not exist: pid\d+:a.out:nosuch:entry \(.*nosuch.*\)"),
                (["ugc", "-c", looper], r"tool ugc: none of these probes exists: python\d+:::gc-start, ruby\d+.*"),
                (["dbslower", "-c", looper], r"tool dbslower: none of these probes exists: postgresql\d+:::query-start, .*")):
            result = dvm("tool", *words)
            self.assertEqual(result.returncode, 1)
            self.assertNotIn("TIME", result.stdout)  # no head
            self.assertRegex(result.stderr, rf"^dvm: {message}\n$")

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

    def test_funccount(self):
        self.assertRegex(self.tool("funccount", "func", "-c", program("looper") + " 1000"), r"(?m)^looper +func +1000$")

    def test_funclatency(self):
        output = self.tool("funclatency", "func", "-c", program("looper") + " 1000")
        self.assertIn("\nnanoseconds\n", output)
        counts = re.findall(r"\|@* +(\d+)", output)
        self.assertEqual(sum(map(int, counts)), 1000)
        self.assertIn("\nmicroseconds\n", self.tool("funclatency", "-u", "func", "-c", program("looper") + " 10"))

    def test_funclatency_where_a_return_has_no_probe(self):
        """Calls that are seen to begin, and not to end, do not disturb the times of others, nor fill the memory of variables."""
        options = ["-m", "-x", "return=exits", "-x", "dynvarsize=256k", "step_*"]
        rows = {row["function"]: row["distribution"]["buckets"] for row in self.rows("funclatency", *options, "-c", self.build(STEPS))[1:]}
        self.assertEqual(list(rows), ["step_outer"])
        self.assertGreaterEqual(min(bucket["min"] for bucket in rows["step_outer"]), 16)
        self.assertEqual(sum(bucket["count"] for bucket in rows["step_outer"]), 3)

    def test_argdist(self):
        locks = self.build(LOCKS)
        output = self.tool("argdist", "malloc", "libc*", "-v", "-c", locks)
        self.assertRegex(output, r"(?m)^malloc +1000 +7$")
        output = self.tool("argdist", "realloc", "libc*", "-a", "arg1", "-c", locks)
        self.assertRegex(output, r"512 \|@+ 50")

    def test_stackcount(self):
        output = self.tool("stackcount", "malloc", "libc*", "-c", self.build(LOCKS))
        self.assertRegex(output, r"malloc\n +program`leak\+0x[0-9a-f]+\n +program`main\+0x[0-9a-f]+\n(?:.*\n)*? +7\n")

    def test_functions_of_cxx_need_no_quotes(self):
        for name in ("zoo::Cat::feed", "zoo::Cat::f*", '"zoo::Cat::feed"'):
            self.assertRegex(self.tool("funccount", name, "-c", program("classes")), r"(?m)^classes +zoo::Cat::feed +1$")

    def test_a_tool_whose_probes_are_refused_fails(self):
        result = dvm("tool", "funclatency", "_start", "-c", program("looper") + " 10")
        self.assertEqual((result.returncode, result.stdout), (1, ""), result.stderr)
        self.assertRegex(result.stderr, r"dvm: tool funclatency: none of the probes pid\d+:a.out:_start:return could be enabled\n$")
        self.assertRegex(result.stderr, r"1 probe left out, pid\d+:looper:_start:return: ")

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
