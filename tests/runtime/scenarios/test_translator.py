"""Engine llvm without a usable translator, or without memory for code: the clause runs on the interpreter, and one line
says why."""

import ctypes
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import tempfile
import unittest

import dvmtest

PLUGIN = pathlib.Path(dvmtest.DVM).parent.parent / "lib/dvm/dvm-llvm.so"
INTERFACE = pathlib.Path(dvmtest.DVM).parent.parent / "vm/generated/translator_interface.h"
VM = dvmtest.ROOT / "vm"
LLVM = "libLLVM.so.19.1"
PR_SET_MDWE, REFUSE_EXEC_GAIN = 65, 1
ROOMS = (200 << 20, 232 << 20, 239 << 20, 270 << 20)  # bytes: enough for dvm, and too few for LLVM
SCRIPT = 'BEGIN { printf("%d", (uint32_t)pid * 0 + 42); exit(0) }'
# Under auto: each firing compares some hundred thousand bytes, so some hundred firings cost as much as LLVM, in a second.
COSTLY = """
string s;
BEGIN { s = "%s"; }
tick-500hz { @ = sum(index(s, "aab")); @ = sum(index(s, "aaab")); @ = sum(index(s, "aaaab")); @ = sum(index(s, "aaaaab")); }
tick-500hz /i++ == 1000/ { exit(0); }
""" % ("a" * 20000)
ON_INTERPRETER = "dvm: clauses run on the interpreter: "

OTHER_VERSION = """
#include <stdint.h>
struct { uint64_t interface; const char *llvm; void *functions[2]; } translator = {999, "0", {0, 0}};
const void *dvm_translator(void) { return &translator; }
"""
# Throws as LLVM does where it gets no memory.
OUT_OF_MEMORY = """
#include <cstdint>
#include <new>
static void translate() { throw std::bad_alloc(); }
static struct { uint64_t interface; const char *llvm; void (*functions[2])(); } translator = {%#x, "0", {translate, translate}};
extern "C" const void *dvm_translator() { return &translator; }
"""
# dvm's first thread parses.
NO_SECOND_THREAD = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
static int begun;
int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*run)(void *), void *of) {
  static int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
  if (!create) create = dlsym(RTLD_NEXT, "pthread_create");
  return begun++ ? EAGAIN : create(thread, how, run, of);
}
"""
# Code is less than a page; whatever else dvm maps is more.
NO_MEMORY = """
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
void *mmap(void *at, size_t size, int access, int flags, int file, off_t offset) {
  if (size < 4096 && (flags & MAP_ANONYMOUS)) return errno = ENOMEM, MAP_FAILED;
  return (void *)syscall(SYS_mmap, at, size, access, flags, file, offset);
}
"""


def refuse_executable_mappings():
    if ctypes.CDLL(None).prctl(PR_SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0) != 0:
        os._exit(77)


class Interface(unittest.TestCase):
    """The number by which dvm knows its plugin."""

    def number(self, folder, *names):
        output = folder / "number.h"
        subprocess.run(["cmake", f"-DFOLDER={folder}", "-DFILES=" + ";".join(names), f"-DOUTPUT={output}", "-P", VM / "engine/native/interface.cmake"], check=True)
        return re.search(r"kInterface = (\w+)", output.read_text()).group(1)

    @unittest.skipUnless(shutil.which("cmake"), "needs CMake")
    def test_each_change_of_a_table_or_a_structure_changes_it(self):
        folder = dvmtest.own_folder(self)
        changes = {"dif/variables.def": ("0x0127", "0x0128"), "include/dvm/vm/body.h": ("uint32_t", "uint64_t"),
                   "engine/native/translator.h": ("fault = 0, fault_pc = 0", "fault_pc = 0, fault = 0")}
        texts = {pathlib.Path(name).name: (VM / name).read_text() for name in changes}
        for name, text in texts.items():
            (folder / name).write_text(text)
        numbers = {self.number(folder, *texts)}
        for path, change in changes.items():
            name = pathlib.Path(path).name
            self.assertIn(change[0], texts[name])
            (folder / name).write_text(texts[name].replace(*change))
            numbers.add(self.number(folder, *texts))
            (folder / name).write_text(texts[name])
        self.assertEqual(len(numbers), 1 + len(changes))
        self.assertIn(self.number(folder, *texts), numbers)


class Translator(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="dvm-translator-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "bin").mkdir()
        (self.folder / "lib/dvm").mkdir(parents=True)
        self.dvm = self.folder / "bin/dvm"
        shutil.copy(dvmtest.DVM, self.dvm)
        self.plugin = self.folder / "lib/dvm/dvm-llvm.so"

    def library(self, source, path, *options, language="c"):
        command = [os.environ.get("DVM_CC", "cc"), "-shared", "-fPIC", "-x", language, "-", "-o", str(path), *options]
        subprocess.run(command, input=source, text=True, check=True)

    def run_dvm(self, environment=None, before=None):
        return subprocess.run([self.dvm, "run", "-q", "-x", "engine=llvm", "-n", SCRIPT], capture_output=True, text=True, timeout=120,
                              env={**dvmtest.ENV, **(environment or {})}, preexec_fn=before)

    def says(self, *words, environment=None, before=None):
        run = self.run_dvm(environment, before)
        if run.returncode == 77:
            self.skipTest("the kernel cannot be told to refuse executable mappings")
        self.assertEqual((run.returncode, run.stdout), (0, "42\n"), run.stderr)
        lines = [line for line in run.stderr.splitlines() if line.startswith(ON_INTERPRETER)]
        self.assertEqual(len(lines), 1, run.stderr)
        for word in words:
            self.assertIn(word, lines[0])

    def run_auto(self, *options, environment=None, before=None):
        command = [self.dvm, "run", "-q", "-x", "strsize=32k", *options, "-n", COSTLY]
        run = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**dvmtest.ENV, **(environment or {})},
                             preexec_fn=before)
        if run.returncode == 77:
            self.skipTest("the kernel cannot be told to refuse executable mappings")
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stderr

    def without_memory_for_code(self):
        """An environment in which dvm gets none."""
        preloaded = self.folder / "no_memory.so"
        self.library(NO_MEMORY, preloaded)
        return {"LD_PRELOAD": str(preloaded)}

    def copy_plugin(self):
        if not PLUGIN.exists():
            self.skipTest("built without LLVM")
        shutil.copy(PLUGIN, self.plugin)

    def test_a_good_plugin_is_used(self):
        self.copy_plugin()
        run = self.run_dvm()
        self.assertEqual((run.returncode, run.stdout), (0, "42\n"), run.stderr)
        self.assertNotIn(ON_INTERPRETER, run.stderr)

    def test_no_plugin(self):
        reason = f"there is no {self.plugin}"
        self.says(reason)
        run = subprocess.run([self.dvm, "--version"], capture_output=True, text=True, env=dvmtest.ENV)
        self.assertRegex(run.stdout, rf"(?m)^engines: interp, llvm \(not here: .*{reason}\)$")
        run = subprocess.run([self.dvm, "list", "-v", "-x", "engine=llvm", "dtrace:::BEGIN"], capture_output=True, text=True, env=dvmtest.ENV)
        self.assertRegex(run.stdout, rf"engine interp; not llvm: .*{reason}")
        run = subprocess.run([self.dvm, "list", "-v", "-n", "BEGIN { trace(1); }"], capture_output=True, text=True, env=dvmtest.ENV)
        self.assertRegex(run.stdout, rf"engine interp; .*not llvm: .*{reason}")
        run = subprocess.run([self.dvm, "doctor", "--json"], capture_output=True, text=True, env=dvmtest.ENV)
        found = {check["name"]: check for check in json.loads(run.stdout)["checks"]}["llvm"]
        self.assertFalse(found["works"])
        self.assertIn(reason, found["reason"])
        self.assertIn("apt-get install", found["remedy"])

    def test_auto_says_which_clause_changed(self):
        self.copy_plugin()
        self.assertRegex(self.run_auto("-v"), r"(?m)^dvm: dt_clause_1: engine llvm after \d+ firings$")

    # One line in all, and with -v one about each clause as well.
    def auto_says(self, reason, **how):
        said = self.run_auto("-v", **how)
        lines = [line for line in said.splitlines() if line.startswith(ON_INTERPRETER)]
        self.assertEqual(len(lines), 1, said)
        self.assertRegex(lines[0], rf"{reason}$")
        self.assertRegex(said, rf"(?m)^dvm: dt_clause_1: engine interp; not llvm: .*{reason}$")

    def test_auto_without_a_plugin(self):
        self.auto_says(f"there is no {self.plugin}")

    def test_auto_says_nothing_of_a_plugin_that_it_does_not_need(self):
        run = subprocess.run([self.dvm, "run", "-q", "-n", SCRIPT], capture_output=True, text=True, timeout=120, env=dvmtest.ENV)
        self.assertEqual((run.stdout, run.stderr), ("42\n", ""))

    def test_auto_with_a_plugin_that_is_cut_off(self):
        self.copy_plugin()
        self.plugin.write_bytes(PLUGIN.read_bytes()[:20_000])
        self.auto_says("is cut off: its end is missing")

    def test_auto_with_a_plugin_of_another_version(self):
        self.library(OTHER_VERSION, self.plugin)
        self.auto_says("belongs to another version of dvm")

    @unittest.skipIf(dvmtest.SANITIZED, "the sanitizer has an mmap of its own")
    def test_auto_without_memory_for_code(self):
        self.copy_plugin()
        self.auto_says("no memory for code: Cannot allocate memory", environment=self.without_memory_for_code())

    @unittest.skipIf(dvmtest.SANITIZED, "the sanitizer maps executable memory")
    def test_auto_on_a_kernel_that_refuses_executable_mappings(self):
        self.copy_plugin()
        self.auto_says("the kernel refuses executable memory: Permission denied", before=refuse_executable_mappings)

    def test_a_plugin_that_is_cut_off(self):
        self.copy_plugin()
        whole = PLUGIN.read_bytes()
        for size in (0, 40, 1000, 4096, 20_000):
            with self.subTest(size):
                self.plugin.write_bytes(whole[:size])
                self.says(str(self.plugin), "is cut off" if size > 1000 else "")

    def test_a_plugin_with_damage(self):
        self.copy_plugin()
        damaged = bytearray(PLUGIN.read_bytes())
        damaged[32:40] = b"\xff" * 8  # where the program headers are
        self.plugin.write_bytes(damaged)
        self.says(str(self.plugin))

    @unittest.skipIf(dvmtest.SANITIZED, "the sanitizer reserves terabytes of addresses")
    def test_no_room_for_llvm(self):
        self.copy_plugin()
        for room in ROOMS:
            with self.subTest(room >> 20):
                self.says("LLVM needs 256 MB of address space, and ", " are left (ulimit -v)",
                          before=lambda most=room: resource.setrlimit(resource.RLIMIT_AS, (most, most)))

    def test_a_plugin_that_is_no_library(self):
        self.plugin.write_text("no library")
        self.says(str(self.plugin))

    def test_a_library_that_is_no_plugin(self):
        self.library("int nothing;", self.plugin)
        self.says(f"{self.plugin} is not a translator")

    def test_a_plugin_of_another_version(self):
        self.library(OTHER_VERSION, self.plugin)
        self.says(f"{self.plugin} belongs to another version of dvm")

    def test_no_memory_to_translate(self):
        interface = re.search(r"kInterface = (\w+)", INTERFACE.read_text()).group(1)
        self.library(OUT_OF_MEMORY % int(interface, 0), self.plugin, "-lstdc++", language="c++")
        self.says("no memory to translate")
        self.auto_says("no memory to translate")

    @unittest.skipIf(dvmtest.SANITIZED, "the sanitizer starts threads of its own")
    def test_auto_without_another_thread(self):
        self.copy_plugin()
        preloaded = self.folder / "no_thread.so"
        self.library(NO_SECOND_THREAD, preloaded)
        self.auto_says("there is no thread to translate: Resource temporarily unavailable", environment={"LD_PRELOAD": str(preloaded)})

    def test_another_llvm(self):
        self.copy_plugin()
        self.library("int nothing;", self.folder / LLVM, f"-Wl,-soname,{LLVM}")
        self.says(str(self.plugin), environment={"LD_LIBRARY_PATH": str(self.folder)})

    @unittest.skipIf(dvmtest.SANITIZED, "the sanitizer has an mmap of its own")
    def test_no_memory_for_code(self):
        self.copy_plugin()
        self.says("no memory for code: Cannot allocate memory", environment=self.without_memory_for_code())

    @unittest.skipIf(dvmtest.SANITIZED, "the sanitizer maps executable memory")
    def test_a_kernel_that_refuses_executable_mappings(self):
        self.copy_plugin()
        self.says("the kernel refuses executable memory: Permission denied", before=refuse_executable_mappings)


if __name__ == "__main__":
    unittest.main()
