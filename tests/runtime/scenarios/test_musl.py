"""Programs of musl, linked dynamically and statically: every backend finds their functions, threads and libraries, and changes nothing."""

import re
import shutil
import subprocess
import unittest

import dvmtest
from dvmtest import dvm

LIBRARY = 'int late_count; int late(int n) { return late_count += n; }'
# Threads, a signal, jumps out of functions, a callback of the C library, and a library that is opened late.
SOURCE = r"""
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static jmp_buf back;
static volatile int signals;
int work(const char* text, int n);
void leap(int n) { longjmp(back, n); }
static void on_signal(int number) { signals += work("signal", number == SIGUSR1); }
static void* run(void* n) {
  long sum = 0;
  for (int i = 0; i < 100; i++) sum += work("thread", (int)(long)n);
  return (void*)sum;
}
static int by_text(const void* a, const void* b) { return strcmp(*(char* const*)a, *(char* const*)b); }
int main(int argc, char** argv) {
  pthread_t ids[4];
  void* sums[4];
  for (long i = 0; i < 4; i++) pthread_create(&ids[i], NULL, run, (void*)i);
  for (int i = 0; i < 4; i++) pthread_join(ids[i], &sums[i]);
  for (int i = 0; i < 4; i++) printf("%ld\n", (long)sums[i]);
  signal(SIGUSR1, on_signal);
  for (int i = 0; i < 20; i++) raise(SIGUSR1);
  volatile int leaps = 0;
  if (setjmp(back) < 10) leap(++leaps);
  const char* words[] = {"delta", "alpha", "charlie", "bravo"};
  qsort(words, 4, sizeof *words, by_text);
  printf("%d signals, %d leaps, %s to %s, %g\n", signals, leaps, words[0], words[3], atof("2.5"));
  if (argc < 2) return 0;
  int (*late)(int) = (int (*)(int))dlsym(dlopen(argv[1], RTLD_NOW), "late");
  for (int i = 0; i < 50; i++) late(i);
  printf("%d\n", late(0));
}
// Far from code without symbols, parts of which look like short jumps.
int work(const char* text, int n) { return (int)strlen(text) + n; }
"""
EVERYTHING = "pid$target:::entry, pid$target:::return { @[probename] = count(); }"
WORK = 'pid$target:a.out:work:entry { @[copyinstr(arg0)] = count(); @threads[tid] = count(); self->is = 1; } ' \
       'pid$target:a.out:work:return /self->is/ { @returned[arg1] = count(); self->is = 0; } ' \
       'END { printa("%s %@d\\n", @); printa("returned %d %@d\\n", @returned); printa("of a thread %@d\\n", @threads); }'
WORKED = ["of a thread 100"] * 4 + ["of a thread 20", "returned 6 100", "returned 7 120", "returned 8 100", "returned 9 100", "signal 20", "thread 400"]


class Musl(dvmtest.PrivilegedTest):
    def setUp(self):
        super().setUp()
        if not shutil.which("musl-gcc"):
            dvmtest.skip_or_fail(self, "no musl-gcc")
        self.folder = dvmtest.own_folder(self)

    def compile(self, name, source, *words):
        subprocess.run(["musl-gcc", "-O0", "-g", "-Wl,--eh-frame-hdr", "-x", "c", "-", "-o", self.folder / name, *words], input=source, text=True, check=True, cwd=self.folder)
        return str(self.folder / name)

    def programs(self):
        """Their commands, with output that is the same each time."""
        library = self.compile("late.so", LIBRARY, "-shared", "-fPIC")
        return {"dynamic": f"{self.compile('dynamic', SOURCE)} {library}", "static": self.compile("static", SOURCE, "-static"),
                "static-pie": self.compile("static-pie", SOURCE, "-static-pie", "-fPIE")}

    def trace(self, backend, text, command, *options):
        return dvm("run", "-q", "-x", f"backend={backend}", *options, "-n", text, "-c", command)

    def test_every_function_is_probed_and_the_output_is_that_of_the_untraced_run(self):
        for name, command in self.programs().items():
            expected = subprocess.run(command.split(), capture_output=True, text=True, check=True).stdout
            for backend in ("agent", "uprobe"):
                with self.subTest(f"{name}, {backend}"):
                    result = self.trace(backend, EVERYTHING, command, "-o", str(self.folder / f"{name}.{backend}"))
                    self.assertEqual((result.returncode, result.stdout), (0, expected), result.stderr)
                    self.assertRegex((self.folder / f"{name}.{backend}").read_text(), r"entry +\d{4,}")

    def test_each_backend_sees_the_same(self):
        for name, command in self.programs().items():
            for backend in ("agent", "uprobe", "breakpoint"):
                with self.subTest(f"{name}, {backend}"):
                    options = ["-v", "-x", "evaltime=main"] if backend == "agent" else []
                    result = self.trace(backend, WORK, command, "-o", str(self.folder / f"{name}.{backend}"), *options)
                    lines = re.findall(r"^(?:of|returned|signal|thread) .*", (self.folder / f"{name}.{backend}").read_text(), re.MULTILINE)
                    self.assertEqual(sorted(lines), WORKED, result.stderr)
                    if name != "static-pie":  # its addresses are small numbers, which may be anything
                        self.assertEqual("(agent, in the traced thread)" in result.stderr, backend == "agent", result.stderr)

    def test_a_library_that_is_opened_late(self):
        for backend in ("agent", "uprobe"):
            with self.subTest(backend):
                result = self.trace(backend, "pid$target:late.so:late:entry { @ = count(); }", self.programs()["dynamic"], "-Z")
                self.assertRegex(result.stdout, r"\n +51\n", result.stderr)


if __name__ == "__main__":
    unittest.main()
