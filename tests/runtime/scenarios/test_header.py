"""dvm header: programs that are built with the header have the probes that the script declares."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import dvmtest
from dvmtest import dvm

DECLARATION = """
struct order { int items; };
provider shop {
  probe open();
  probe sold__item(int, uint8_t, string name, struct order *);
  probe many(long, char, short, unsigned int, int64_t, uintptr_t, int, int, int, int, int);
};
"""

PROGRAM = """
#include <stdio.h>
#include "shop.h"
struct order { int items; };
static void use(struct order *order) { (void)order; }
int main(void) {
  int enabled = 0;
  SHOP_OPEN();
  for (int i = -1; i < 2; i++) {
    struct order o = {10 * i};
    use(&o);
    if (SHOP_SOLD_ITEM_ENABLED()) enabled++;
    SHOP_SOLD_ITEM(i, i, "apple", &o);
    SHOP_MANY(i, i, i, i, i, i, 1, 2, 3, 4, 5);
  }
  printf("enabled %d\\n", enabled);
  return 0;
}
"""

RUBY = """
#include "shop.h"
int main(void) { RUBY_METHOD_ENTRY("inner", 1); RUBY_CMETHOD_ENTRY("times", 2); RUBY_OBJECT_CREATE("Date", 3); RUBY_GC_MARK_BEGIN(); return 0; }
"""

SCRIPT = """
shop$target:::open { printf("%s\\n", probefunc); }
shop$target:::sold-item { printf("%d %d %s %d\\n", arg0, arg1, copyinstr(arg2), *(int *)copyin(arg3, 4)); }
shop$target:::many { printf("%d %d %d %d %d %x %d %d %d %d\\n", arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7, arg8, arg9); }
"""

OUTPUT = """main
-1 255 apple -10
-1 -1 -1 4294967295 -1 ffffffffffffffff 1 2 3 4
0 0 apple 0
0 0 0 0 0 0 1 2 3 4
1 1 apple 10
1 1 1 1 1 1 1 2 3 4
"""

BUILDS = [["gcc", "-std=c99", "-pedantic", "-O0"], ["gcc", "-O2"], ["gcc", "-O3", "-static"], ["g++", "-x", "c++", "-O2"],
          ["g++", "-x", "c++", "-std=c++20", "-O2", "-fno-pie", "-no-pie"]]


class Folder(unittest.TestCase):
    def setUp(self):
        super().setUp()
        self.path = dvmtest.own_folder(self)
        (self.path / "shop.d").write_text(DECLARATION)
        (self.path / "shop.c").write_text(PROGRAM)

    def header(self, *args):
        return dvm("header", *args, cwd=self.path)

    def build(self, compiler):
        result = subprocess.run([*compiler, "-Wall", "-Wextra", "-Werror", "shop.c", "-o", "shop"], cwd=self.path, capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stderr)
        return str(self.path / "shop")

    def untraced(self, built):
        return subprocess.run([built], capture_output=True, text=True, check=True).stdout


class Header(Folder):
    def test_is_named_as_the_script(self):
        result = self.header("-s", "shop.d")
        self.assertEqual((result.returncode, result.stdout), (0, ""))
        self.assertEqual(result.stderr, "dvm: probe shop:::many has 11 arguments; scripts can read the first 10\n")
        self.assertIn("#define SHOP_SOLD_ITEM_ENABLED()", (self.path / "shop.h").read_text())
        self.assertEqual(sorted(os.listdir(self.path)), ["shop.c", "shop.d", "shop.h"])

    def test_goes_where_it_is_told_to(self):
        self.assertEqual(self.header("-s", "shop.d", "-o", "other.h").returncode, 0)
        printed = self.header("shop.d", "-o", "-")
        self.assertEqual(printed.returncode, 0, printed.stderr)
        self.assertEqual(printed.stdout.replace("DVM_PROBES_H", "DVM_OTHER_H"), (self.path / "other.h").read_text())

    def test_options_that_select_probes_are_not_there(self):
        self.assertNotRegex(dvm("header", "--help").stdout, r"(?m)^  -[vPmfiZ] ")
        self.assertEqual(self.header("-P", "shop").returncode, 2)

    def test_probes_cost_nothing_where_they_are_not_wanted(self):
        self.header("-s", "shop.d")
        self.assertEqual(self.untraced(self.build(["gcc", "-DDVM_NO_PROBES"])), "enabled 0\n")

    def test_a_script_without_probes(self):
        for text in ("BEGIN { }", "provider p { };"):
            (self.path / "none.d").write_text(text)
            result = self.header("-s", "none.d")
            self.assertEqual(result.returncode, 0, text)
            self.assertIn("none.d declares no probes", result.stderr)
            (self.path / "none.c").write_text('#include "none.h"\nint main(void) { return 0; }\n')
            self.assertEqual(0, subprocess.run(["gcc", "-Wall", "-Werror", "-o", "none", "none.c"], cwd=self.path).returncode)

    def test_what_cannot_be_made_is_refused_and_nothing_is_written(self):
        for text, reason in [("provider p { probe a(nosuch_t); };", "failed to compile"),
                             ("struct s { int x; }; provider p { probe a(struct s); };", "neither a number nor a pointer"),
                             ("provider p { probe a(int);", "syntax error")]:
            (self.path / "bad.d").write_text(text)
            result = self.header("-s", "bad.d")
            self.assertEqual(result.returncode, 1, text)
            self.assertIn(reason, result.stderr)
            self.assertFalse((self.path / "bad.h").exists())
        result = self.header("-n", "provider p { probe a(); };")
        self.assertEqual(2, result.returncode)
        self.assertIn("dvm: header requires an output file if no scripts are specified\n", result.stderr)
        result = self.header("-s", "shop.d", "-o", "nowhere/shop.h")
        self.assertEqual((result.returncode, result.stderr), (1, "dvm: failed to write 'nowhere/shop.h': No such file or directory\n"))


class Traced(Folder, dvmtest.PrivilegedTest):
    def test_programs_in_c_and_c_plus_plus(self):
        self.header("-s", "shop.d")
        for compiler in BUILDS:
            if shutil.which(compiler[0]) is None:
                continue
            with self.subTest(" ".join(compiler)):
                built = self.build(compiler)
                self.assertEqual(self.untraced(built), "enabled 0\n")
                result = dvm("run", "-q", "-n", SCRIPT, "-o", str(self.path / "out"), "-c", built)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(result.stdout, "enabled 3\n")
                self.assertEqual((self.path / "out").read_text().rstrip("\n"), OUTPUT.rstrip("\n"))
                (self.path / "out").unlink()

    def test_the_declaration_gives_args_their_types(self):
        self.header("-s", "shop.d")
        built = self.build(["gcc", "-O2"])
        result = dvm("run", "-q", "-n", DECLARATION + 'shop$target:::sold-item { printf("%d %d %d\\n", args[0] - 1, args[1], args[3] != 0); }',
                     "-o", str(self.path / "out"), "-c", built)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual((self.path / "out").read_text().split("\n")[:3], ["-2 255 1", "-1 0 1", "0 1 1"])

    def test_older_names_of_markers_mean_those_of_today(self):
        (self.path / "shop.d").write_text("provider ruby { probe method__entry(char *, int); probe cmethod__entry(char *, int);"
                                          "probe object__create(char *, int); probe gc__mark__begin(); };")
        (self.path / "shop.c").write_text(RUBY)
        self.header("-s", "shop.d")
        built = self.build(["gcc", "-O2"])
        old = "ruby$target:::function-entry, ruby$target:::object-create-start { printf(\"%s %s %d,\", probename, copyinstr(arg0), arg1); } "
        for program, rows in ((old, "function-entry inner 1,function-entry times 2,object-create-start Date 3,"),
                              (old.replace("start { ", "start { @ = count(); ") + "ruby$target:::*entry { @ = count(); } END { printa(@); }",
                               "function-entry inner 1,function-entry times 2,object-create-start Date 3,\n                5\n")):
            result = dvm("run", "-q", "-n", program, "-c", built)
            self.assertEqual((result.returncode, result.stdout.strip()), (0, rows.strip()), result.stderr)
        self.assertIn(":::gc-begin does not match any probes", dvm("run", "-n", "ruby$target:::gc-begin", "-c", built).stderr)


class CarriedTypes(Folder, dvmtest.PrivilegedTest):
    """The program carries the declaration of its provider, so that a script needs none."""

    DECLARATION = """
        struct order; typedef struct order order_t; typedef struct { int x; } pair_t; enum color { red }; typedef enum color color_t;
        struct in { int len; }; struct out { long size; }; translator struct out < struct in *P > { size = P->len + 1; };
        provider shop {
          probe sold__item(int, uint8_t, string name, const char *, order_t *, pair_t *, enum color);
          probe work(struct in *i, int n) : (int n, struct out *i);
        };"""
    PROGRAM = """
        #include <string.h>
        typedef struct order { int items; const char *who; } order_t;
        typedef struct { int x; } pair_t;
        enum color { red, green = 7 };
        struct in { int len; };
        #include "shop.h"
        int main(void) {
          for (int i = 0; i < 2; i++) {
            order_t order = {10 + i, "me"};
            pair_t pair = {20 + i};
            struct in in = {30 + i};
            SHOP_SOLD_ITEM(-i, 255, "apple", "red", &order, &pair, i ? green : red);
            SHOP_WORK(&in, i);
          }
          return 0;
        }"""
    SCRIPT = """
        shop$target:::sold-item {
          printf("%d %d %s %s %d %s %d %d\\n", args[0], args[1], args[2], stringof(args[3]), args[4]->items, stringof(args[4]->who), args[5]->x, args[6]);
        }"""
    TRANSLATED = """
        struct in { int len; }; struct out { long size; }; translator struct out < struct in *P > { size = P->len + 1; };
        shop$target:::work { printf("%d %d\\n", args[0], args[1]->size); }"""

    def setUp(self):
        super().setUp()
        (self.path / "shop.d").write_text(self.DECLARATION)
        (self.path / "shop.c").write_text(self.PROGRAM)

    def traced(self, script, built):
        (self.path / "out").unlink(missing_ok=True)
        result = dvm("run", "-q", "-n", script, "-o", str(self.path / "out"), "-c", built)
        return result.returncode, (self.path / "out").read_text().strip() if result.returncode == 0 else result.stderr

    def test_types_come_from_the_program(self):
        self.header("-s", "shop.d")
        for options in (["-O2"], ["-O2", "-Wl,--gc-sections", "-static"]):
            built = self.build(["gcc", "-g", *options])
            self.assertEqual(self.traced(self.SCRIPT, built), (0, "0 255 apple red 10 me 20 0\n-1 255 apple red 11 me 21 7"))
            self.assertEqual(self.traced(self.TRANSLATED, built), (0, "0 31\n1 32"))
        listing = dvm("list", "-v", "shop$target:::sold-item", "-c", built).stdout
        self.assertIn("args[2]: string", listing)
        self.assertIn("args[4]: struct order *", listing)

    def test_types_are_known_before_the_program_runs_and_in_recordings(self):
        self.header("-s", "shop.d")
        built, recording = self.build(["gcc", "-g"]), str(self.path / "recording")
        self.assertEqual(dvm("compile", "-n", self.SCRIPT, "-c", built).stderr, "")
        recorded = dvm("record", "-q", "-o", recording, "-n", "shop$target:::sold-item { trace(copyinstr(arg2)); }", "-c", built)
        self.assertEqual(recorded.returncode, 0, recorded.stderr)
        replayed = dvm("replay", "-q", recording, "-n", 'shop*:::sold-item { printf("%d %s ", args[0], args[2]); }')
        self.assertEqual(replayed.stdout.split(), ["0", "apple", "-1", "apple"], replayed.stderr)

    def test_a_declaration_of_the_script_comes_first(self):
        self.header("-s", "shop.d")
        own = "provider shop { probe sold__item(unsigned char); };"
        built = self.build(["gcc", "-g"])
        self.assertEqual(self.traced(own + 'shop$target:::sold-item { printf("%d ", args[0]); }', built), (0, "0 255"))
        listing = dvm("run", "-l", "-v", "-n", own + "shop$target:::sold-item { }", "-c", built).stdout
        self.assertIn("Argument Types\n\t\targs[0]: unsigned char\n\n", listing)

    def test_a_typedef_that_the_program_does_not_describe_comes_from_the_script(self):
        self.header("-s", "shop.d")
        built = self.build(["gcc", "-O2", "-s"])
        self.assertEqual(self.traced('shop$target:::sold-item { printf("%d ", args[1]); }', built), (0, "255 255"))
        own = "typedef struct { int x; } pair_t;"
        self.assertEqual(self.traced(own + 'shop$target:::sold-item { printf("%d ", args[5]->x); }', built), (0, "20 21"))


class LongNops(dvmtest.PrivilegedTest):
    """A marker on a nop of five bytes, in a leaf function that keeps a value below its stack pointer."""

    PROGRAM = """
        #include <stdio.h>
        #include "leaf.h"
        __attribute__((noinline)) int leaf(int value) {
          volatile int kept[2] = {value, value};
          LEAF_MARK();
          return kept[0] + kept[1];
        }
        int main(void) {
          int wrong = 0;
          for (int i = 1; i <= 5; i++) wrong += leaf(i) != 2 * i;
          printf("%d wrong\\n", wrong);
          return 0;
        }
        """

    def run_with(self, nop):
        with tempfile.TemporaryDirectory() as folder:
            header = dvm("header", "-n", "provider leaf { probe mark(); };", "-o", f"{folder}/leaf.h")
            self.assertEqual(header.returncode, 0, header.stderr)
            text = pathlib.Path(f"{folder}/leaf.h").read_text()
            self.assertIn('"990:\\tnop\\n"', text)
            pathlib.Path(f"{folder}/leaf.h").write_text(text.replace('"990:\\tnop\\n"', f'"990:\\t{nop}\\n"'))
            subprocess.run(["gcc", "-O2", f"-I{folder}", "-x", "c", "-", "-o", f"{folder}/leaf"], input=self.PROGRAM, text=True, check=True)
            return dvm("run", "-q", "-n", "leaf$target:::mark { @ = count(); } pid$target:a.out:main:entry { }", "-c", f"{folder}/leaf")

    def test_the_program_goes_on_as_it_was(self):
        result = self.run_with("nop")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"^0 wrong\n\s+5\n")

    def test_a_nop_that_the_kernel_would_make_a_call_is_left_out(self):
        if tuple(map(int, re.match(r"(\d+)\.(\d+)", os.uname().release).groups())) < (6, 18):
            self.skipTest("this kernel leaves nops as they are")
        result = self.run_with(".byte 0x0f, 0x1f, 0x44, 0x00, 0x00")
        self.assertIn("0 wrong\n", result.stdout)
        if os.environ.get("DTRACE_OPT_BACKEND") == "agent":  # which places a jump there
            return self.assertRegex(result.stdout, r"^0 wrong\n\s+5\n")
        self.assertRegex(result.stderr, r"1 probe left out, leaf\d+:leaf:leaf:mark: from Linux 6.18 on")


if __name__ == "__main__":
    unittest.main()
