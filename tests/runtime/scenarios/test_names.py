"""Names from traced programs: of files that are opened late, and with control characters, on a terminal and in a pipe."""

import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import textwrap
import unittest

import dvmtest
from dvmtest import DVM, ENV, dvm, program

LIBRARY = str(pathlib.Path(program("late")).parent / "liblate_library.so")
RED = "\x1b[31m"
SHOWN_RED = r"\033[31m"

# A process whose name and generated function have escape sequences, and which asks for its parent a thousand times.
NAMED = f"""
    import ctypes, os, time
    ctypes.CDLL(None).prctl(15, {('a' + RED + 'b')!r}.encode(), 0, 0, 0)
    with open(f"/tmp/perf-{{os.getpid()}}.map", "w") as file:
        file.write({('10000 20 f' + RED + 'g')!r} + "\\n")
    for i in range(1000): os.getppid()
    time.sleep(2)
    os.remove(f"/tmp/perf-{{os.getpid()}}.map")
"""


# Calls target() with addresses of data: in an array, in zeroes, in the C library, in a constant, on the heap.
DATA = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
int table[10] = {1};
static long zeroes[10];
const int constant = 7;
__attribute__((noinline)) void target(const void *data) { __asm__ volatile("nop; nop; nop; nop; nop; nop" :: "r"(data) : "memory"); }
int main(void) {
  target(&table[0]);
  target(&table[3]);
  target(&zeroes[9]);
  target(&constant);
  target(dlsym(RTLD_DEFAULT, "in6addr_any"));
  target(malloc(10));
  return 0;
}
"""


def on_terminal(*args):
    """What dvm prints onto a terminal, both results and messages, but for the line that it shows while it waits, which it removes."""
    ours, its = pty.openpty()
    with subprocess.Popen([DVM, *args], stdin=subprocess.DEVNULL, stdout=its, stderr=its, env=ENV) as tracer:
        os.close(its)
        shown = b""
        try:
            while part := os.read(ours, 65536):
                shown += part
        except OSError:  # the terminal is closed
            pass
        tracer.wait()
    os.close(ours)
    return re.sub(r"(\r\033\[Kdvm: [a-z ]+ \(\d+ s\))+\r\033\[K", "", shown.decode("utf-8").replace("\r\n", "\n"))


class LateNames(dvmtest.PrivilegedTest):
    def test_a_library_that_was_opened_and_closed_before_the_end(self):
        """No probe of the process asks the dynamic linker what it opens."""
        script = "profile-4999 /pid == $target/ { @modules[umod(arg1)] = count(); @functions[ufunc(arg1)] = count(); @[ustack(1)] = count(); }"
        result = dvm("run", "-q", "-n", script, "-c", f"{program('late')} {LIBRARY} 100000000")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"\n +liblate_library\.so +\d+\n")
        self.assertRegex(result.stdout, r"\n +liblate_library\.so`late_function +\d+\n")
        self.assertRegex(result.stdout, r"\n +liblate_library\.so`late_function\+0x\w+\n +\d+\n")

    def test_keys_of_a_clause_that_is_enabled_late(self):
        script = "pid$target::late_function:entry { @[umod(uregs[R_PC])] = count(); @stacks[ustack(1)] = count(); }"
        result = dvm("run", "-q", "-Z", "-n", script, "-c", f"{program('late')} {LIBRARY} 1")
        self.assertRegex(result.stdout, r"\n  liblate_library\.so +1\n")
        self.assertRegex(result.stdout, r"\n +liblate_library\.so`late_function\n +1\n")


class DataNames(dvmtest.PrivilegedTest):
    def traced(self, key, program, *options):
        script = f'pid$target:a.out:target:entry {{ @[{key}(arg0)] = count(); }} END {{ printa("%A %@d\\n", @); }}'
        result = dvm("run", "-q", *options, "-n", script, "-c", str(program))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return sorted(re.sub(r"0x[0-9a-f]{5,}", "HEAP", line) for line in result.stdout.splitlines() if line)

    def test_variables_have_names_as_functions_have(self):
        for kind in "-pie", "-no-pie":
            program = dvmtest.own_folder(self) / "data"
            subprocess.run(["gcc", "-O1", f"-f{kind[1:]}", kind, "-x", "c", "-", "-o", program], input=DATA, text=True, check=True)
            for backend in "uprobe", "agent":
                options = "-x", f"backend={backend}"
                self.assertEqual(self.traced("usym", program, *options),
                                 ["HEAP 1", "data`constant 1", "data`table 2", "data`zeroes 1", "libc.so.6`in6addr_any 1"])
                self.assertEqual(self.traced("umod", program, *options), ["HEAP 1", "data 4", "libc.so.6 1"])
                self.assertEqual(self.traced("uaddr", program, *options),
                                 ["HEAP 1", "data`constant 1", "data`table 1", "data`table+0xc 1", "data`zeroes+0x48 1",
                                  "libc.so.6`in6addr_any 1"])


class ControlCharacters(dvmtest.PrivilegedTest):
    def setUp(self):
        super().setUp()
        self.folder = dvmtest.own_folder(self)

    def named(self):
        script = self.folder / "named.py"
        script.write_text(textwrap.dedent(NAMED))
        return f"{sys.executable} {script}"

    def test_the_name_of_a_process(self):
        text = 'syscall::getppid:entry /execname != "python3" && pid == $target/ { printf("<%s>", execname); @[execname] = count(); exit(0); }'
        shown = on_terminal("run", "-q", "-n", text, "-c", self.named())
        self.assertNotIn("\x1b", shown)
        self.assertIn(f"<a{SHOWN_RED}b>", shown)
        self.assertRegex(shown, r"\n  a\\033\[31mb +\d+\n")
        piped = dvm("run", "-q", "-n", text, "-c", self.named()).stdout
        self.assertIn(f"<a{RED}b>", piped)  # as dtrace has it
        self.assertRegex(piped, r"\n  a\\033\[31mb +\d+\n")

    def test_traced_strings_and_literals(self):
        text = r'BEGIN { trace("x\033y\tz\n"); printf("\033[1m%s%c|%s\033[0m\n", "\033\237\t", 27, "grün"); exit(0); }'
        shown = on_terminal("run", "-q", "-n", text)
        self.assertIn("x\\033y\tz\n", shown)
        self.assertIn("\x1b[1m\\033\\237\t\\033|grün\x1b[0m\n", shown)  # what the script itself writes stays

    def test_generated_functions(self):
        text = 'syscall::getppid:entry /pid == $target/ { printf("%A ", 0x10008); usym(0x10008); @[ufunc(0x10008), 1] = count(); exit(0); }'
        for shown in on_terminal("run", "-q", "-n", text, "-c", self.named()), dvm("run", "-q", "-n", text, "-c", self.named()).stdout:
            self.assertNotIn("\x1b", shown)
            self.assertIn(f"map`f{SHOWN_RED}g+0x8 ", shown)
            self.assertEqual(shown.count(f"map`f{SHOWN_RED}g "), 2)

    def test_the_name_of_a_file(self):
        library = self.folder / f"lib{RED}.so"
        shutil.copy(LIBRARY, library)
        text = ('pid$target::late_function:entry { @[probemod] = count(); @modules[umod(uregs[R_PC])] = count(); ustack(1); '
                'printf("%s\\n", probemod); exit(0); }')
        for options in ("-q",), ():
            shown = on_terminal("run", *options, "-Z", "-n", text, "-c", f"{program('late')} {library} patient")
            self.assertNotIn("\x1b", shown)
            self.assertIn(f"lib{SHOWN_RED}.so`late_function", shown)
            self.assertGreaterEqual(shown.count(f"lib{SHOWN_RED}.so"), 4)

    def test_listings_and_messages(self):
        named = self.folder / f"late{RED}"
        shutil.copy(program("late"), named)
        for command in (("list", "-n", "pid$target:late*:main:entry"), ("list", "-v", "-n", "pid$target:late*:main:entry"),
                        ("run", "-n", f"pid$target:late{RED}:nothing:entry {{ }}")):
            shown = on_terminal(*command, "-c", f"{named} 1 2")
            self.assertNotIn("\x1b", shown)
            self.assertIn(f"late{SHOWN_RED}", shown)


if __name__ == "__main__":
    unittest.main()
