"""dvm under the name dtrace: its options, its messages, and -h and -G as build systems use them."""

import os
import re
import resource
import shutil
import subprocess
import unittest

import dvmtest
from dvmtest import DVM

USAGE = 2

PROVIDER = "provider shop { probe open(); probe sold__item(int, char *); };\n"

MAIN = """
#include "shop.h"
#ifdef __cplusplus
extern "C"
#endif
int sell(int count);
int main(void) {
  for (int i = 0; i < 3; i++) {
    SHOP_OPEN();
    sell(i);
  }
  return 0;
}
"""

# Asks whether the probe is enabled.
SELL = """
#include "shop.h"
#ifdef __cplusplus
extern "C"
#endif
int sell(int count) {
  if (!SHOP_SOLD_ITEM_ENABLED()) return 0;
  char name[] = "apple";
  SHOP_SOLD_ITEM(count, name);
  return 1;
}
"""

SCRIPT = ('shop$target:::open { @opened = count(); } shop$target:::sold-item { printf("%d %s\\n", args[0], stringof(args[1])); } '
          'END { printa("opened %@d\\n", @opened); }')


class Link(dvmtest.FolderTest):
    """A folder with a link named dtrace."""

    def setUp(self):
        super().setUp()
        self.link = str(self.folder / "dtrace")
        os.symlink(DVM, self.link)

    def dtrace(self, *args):
        return subprocess.run([self.link, *args], capture_output=True, text=True, timeout=120, cwd=self.folder, env=dvmtest.ENV)

    def succeeds(self, *args):
        result = self.dtrace(*args)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result


class Options(Link):
    def test_messages_bear_its_name(self):
        result = self.succeeds("-n", "BEGIN { exit(0); }")
        self.assertEqual(result.stderr, "dtrace: description 'BEGIN ' matched 1 probe\n")
        result = self.succeeds("-n", "int zero, n; BEGIN { exit(zero); }")
        self.assertEqual(result.stderr, "dtrace: description 'int zero, n' matched 1 probe\n")  # cut where dtrace(1) cuts it
        result = self.dtrace("-n", "BEGIN { exit(x); }")
        self.assertEqual(result.returncode, 1)
        self.assertTrue(result.stderr.startswith("dtrace: invalid probe specifier BEGIN { exit(x); }: "), result.stderr)

    def test_its_own_probes_and_macros_bear_its_name(self):
        script = 'BEGIN { printf("%s %s %s ", execname, curpsinfo->pr_fname, $$0); } tick-10ms { printf("%s", execname); exit(0); }'
        self.assertEqual(self.succeeds("-q", "-n", script).stdout.strip(), "dtrace dtrace dtrace dtrace")

    def test_clustered_options(self):
        self.write("x.d", "BEGIN { printf(\"%d\", $1); exit(3); }")
        result = self.dtrace("-qs", "x.d", "42")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (3, "42\n", ""))

    def test_operands_may_come_first(self):
        result = self.succeeds("7", "-q", "-n", "BEGIN { printf(\"%d\", $1); exit(0); }")
        self.assertEqual(result.stdout.strip(), "7")

    def test_a_script_that_begins_with_dtrace(self):
        script = self.write("own.d", f"#!{self.link} -Cqs\n#define SIX 6\nBEGIN {{ trace(SIX * $1); exit(0); }}\n")
        os.chmod(script, 0o755)
        result = subprocess.run([script, "7"], capture_output=True, text=True, env=dvmtest.ENV)
        self.assertEqual((result.returncode, result.stdout.strip()), (0, "42"), result.stderr)

    def test_the_preprocessor(self):
        self.write("six.h", "#define SIX 6\n")
        self.write("x.d", '#include "six.h"\nBEGIN { trace(SIX + SEVEN); exit(0); }\n')
        result = self.succeeds("-C", "-H", "-I", ".", "-D", "SEVEN=7", "-q", "-s", "x.d")
        self.assertEqual(result.stdout.strip(), "13")
        self.assertIn("six.h", result.stderr)

    def test_lists(self):
        result = self.succeeds("-l", "-P", "dtrace")
        self.assertEqual(re.findall(r"(BEGIN|END|ERROR)$", result.stdout, re.M), ["BEGIN", "END", "ERROR"])
        self.assertIn("Identifier Names", self.succeeds("-lv", "-n", "BEGIN").stdout)

    def test_compiling_alone_enables_nothing(self):
        result = self.succeeds("-eS", "-n", 'BEGIN { printf("never"); }')
        self.assertIn("DIFO", self.succeeds("-eS", "-n", "BEGIN { trace(pid); }").stderr)
        self.assertNotIn("never\n", result.stdout)

    def test_compiling_alone_describes_each_clause(self):
        out = self.succeeds("-ev", "-n", "dtrace:::BEGIN { } syscall::read:entry { }").stdout
        self.assertRegex(out, r"Minimum Statement Attributes(?s:.*)\ndtrace:::BEGIN\n\n\tProbe Description Attributes\n\t\tIdentifier Names: Stable\n")
        self.assertRegex(out, r"\nsyscall::read:entry\n(?s:.*)\targs\[0\]: unsigned int\n")

    def test_each_program_is_described_behind_its_own_report(self):
        out = self.succeeds("-ev", "-n", "BEGIN", "-n", "END").stdout
        self.assertEqual(re.findall(r"^(?:Stab|:).*", out, re.M),
                         ["Stability attributes for description BEGIN:", ":::BEGIN", "Stability attributes for description END:", ":::END"])

    def test_many_clauses_are_described_quickly(self):
        """The program is compiled once for all descriptions, not once for each."""
        count = 300
        self.write("many.d", "".join(f"syscall::read:entry /arg0 == {i}/ {{ n = {i}; }}\n" for i in range(count)))
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        for words in (["-ev"], ["-lv"]):
            self.assertEqual(self.succeeds(*words, "-s", "many.d").stdout.count("args[0]: unsigned int"), count)
        self.assertLess(resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, 6)

    def test_of_a_flag_and_its_setting_the_last_counts(self):
        for words, wanted in ((["-x", "quiet=off", "-q"], ""), (["-q", "-x", "quiet=off"], "dtrace: description 'BEGIN ' matched 1 probe\n")):
            self.assertEqual(self.succeeds(*words, "-n", "BEGIN { exit(0); }").stderr, wanted)

    def test_output_file_settings_and_folders(self):
        self.write("own.d", "inline int ours = 5;")
        self.succeeds("-q", "-o", "out", "-b", "1m", "-x", "strsize=4", "-L", ".", "-Z", "-w", "-n", "BEGIN { trace(ours); exit(0); }")
        self.assertEqual((self.folder / "out").read_text().strip(), "5")

    def test_version(self):
        self.assertRegex(self.succeeds("-V").stdout, r"^dtrace: dvm D 2\.0\n$")
        self.assertIn("engines: interp", self.succeeds("-Vv").stdout)

    def test_bad_usage(self):
        for words in ([], ["-Y"], ["-n"]):
            result = self.dtrace(*words)
            self.assertEqual(result.returncode, USAGE)
            self.assertIn("Usage: dtrace ", result.stderr)
        for words, message in ((["-h"], "-h requires one or more scripts or enabling options"),
                               (["-G"], "-G requires one or more scripts or enabling options"),
                               (["-h", "-n", "BEGIN"], "-h requires an output file if no scripts are specified"),
                               (["-h", "-n", "BEGIN", "-n", "END"], "-h requires an output file if multiple scripts are specified"),
                               (["-l", "-V"], "only one of the [-AGhlV] options can be specified at a time")):
            result = self.dtrace(*words)
            self.assertEqual(result.returncode, USAGE)
            self.assertTrue(result.stderr.startswith(f"dtrace: {message}\n"), result.stderr)

    def test_an_object_without_a_name(self):
        self.succeeds("-G", "-n", "BEGIN")
        self.assertTrue((self.folder / "d.out").exists())

    def test_several_scripts_have_an_object_each(self):
        self.write("one.d", "typedef int count_t; provider first { probe go(count_t); };")
        self.write("two.d", "provider second { probe go(count_t); };")
        self.succeeds("-G", "-s", "one.d", "-s", "two.d", "-n", "BEGIN")
        for name, has, lacks in (("one.o", b"first", b"second"), ("two.o", b"second", b"first"), ("d.out.2", b"", b"second")):
            made = (self.folder / name).read_bytes()
            self.assertIn(b"provider " + has if has else b"ELF", made)
            self.assertNotIn(b"provider " + lacks, made)
        second = self.folder / "two.o"
        expected = second.read_bytes()
        second.unlink()
        self.succeeds("-G", "-s", "one.d", "-s", "two.d", "-o", "both.o")
        self.assertEqual((second.read_bytes(), list(self.folder.glob("both.o*"))), (expected, []))

    def test_each_script_of_several_is_reported_once(self):
        self.write("one.d", "provider first { probe go(int); };")
        out = self.succeeds("-vCG", "-s", "one.d", "-n", "BEGIN", "-n", "END").stdout
        self.assertEqual(re.findall("Stability attributes for (.*):", out), ["script one.d", "description BEGIN", "description END"])

    def test_each_script_of_several_is_warned_of_once(self):
        self.write("one.d", "BEGIN { self->start = 0; self->start = timestamp; }")
        err = self.succeeds("-G", "-s", "one.d", "-n", "BEGIN", "-n", "END").stderr
        self.assertEqual(err.count("timestamp is cut to the type of self->start"), 1, err)

    def test_no_program(self):
        result = self.dtrace("-q")
        self.assertEqual((result.returncode, result.stderr), (1, "dtrace: no probes specified\n"))
        self.succeeds("-e")

    def test_a_script_of_declarations_compiles(self):
        (self.folder / "types.d").write_text("struct s { int x; };\n")
        self.assertEqual(self.succeeds("-e", "-s", "types.d").stderr, "")
        result = self.dtrace("-s", "types.d")
        self.assertEqual((result.returncode, result.stderr), (1, "dtrace: script 'types.d' matched 0 probes\ndtrace: no probes matched\n"))

    def test_listings_and_reports_go_to_the_output_file(self):
        for words, wanted in ((["-l"], " +1 +dtrace +BEGIN\n$"), (["-ev"], r"\nStability attributes for description BEGIN:\n(?s:.*)\n:::BEGIN\n"),
                              (["-vx", "quiet"], r"\nStability attributes for description BEGIN:\n")):
            out = self.folder / ("out" + words[0])
            self.assertEqual(self.succeeds(*words, "-o", out.name, "-n", "BEGIN", "-n", "BEGIN { exit(0); }").stdout, "")
            self.assertRegex(out.read_text(), wanted)
        result = self.dtrace("-o", "/nosuch/out", "-n", "BEGIN")
        self.assertEqual((result.returncode, result.stderr), (1, "dtrace: failed to open output file '/nosuch/out': No such file or directory\n"))

    def test_options_without_a_meaning_say_why(self):
        for words, message in ((["-A", "-n", "BEGIN"], "option -A: dvm has no anonymous tracing: no probe can be enabled while the system boots"),
                               (["-a"], "option -a: dvm has no anonymous tracing, whose results this would claim"),
                               (["-32", "-n", "BEGIN"], "option -32: dvm traces 64-bit programs only"),
                               (["-p", "x", "-n", "BEGIN"], "invalid pid: x")):
            result = self.dtrace(*words)
            self.assertEqual((result.returncode, result.stdout, result.stderr), (1, "", f"dtrace: {message}\n"))

    def test_blanks_before_the_value_of_p_are_skipped(self):
        self.assertEqual(self.succeeds("-q", f"-p {os.getpid()}", "-n", "BEGIN { trace($target); exit(0); }").stdout.strip(), str(os.getpid()))
        self.assertIn("invalid pid:  12x", self.dtrace("-p 12x", "-n", "BEGIN").stderr)

    def test_a_wrong_setting_comes_before_missing_probes(self):
        result = self.dtrace("-x", "nosuch")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, "^dtrace: failed to set -x nosuch: Invalid option name\n")

    def test_a_listing_of_usdt_says_how_markers_are_named(self):
        self.assertIn("python$target:::", self.succeeds("-l", "-P", "usdt").stderr)

    def test_a_listing_of_nothing_is_no_error(self):
        for words, spelled in ((["-P", "nosuch"], "nosuch:::"), (["-m", "nosuch"], ":nosuch::"), (["-f", "nosuch"], "::nosuch:")):
            result = self.dtrace("-l", *words)
            self.assertEqual((result.returncode, len(result.stdout.splitlines())), (0, 1))
            self.assertEqual(result.stderr, f"dtrace: failed to match {spelled}: No probe matches description\n")

    def test_64_bit_programs_are_the_usual(self):
        self.succeeds("-64", "-n", "BEGIN { exit(0); }")


class Builds(Link):
    def setUp(self):
        super().setUp()
        self.write("shop.d", PROVIDER)
        self.write("main.c", MAIN)
        self.write("sell.c", SELL)

    def run_tool(self, *words):
        subprocess.run([str(word) for word in words], check=True, cwd=self.folder, capture_output=True, text=True)

    def compile(self, compiler, *flags):
        self.succeeds("-h", "-s", "shop.d", "-o", "shop.h")
        for name in ("main", "sell"):
            self.run_tool(*compiler, *flags, "-O2", "-c", f"{name}.c", "-o", f"{name}.o")
        self.succeeds("-G", "-s", "shop.d", "-o", "shop.o", "main.o", "sell.o")

    def check(self, command="./program"):
        if reason := dvmtest.missing_privilege():
            dvmtest.skip_or_fail(self, reason)
        result = self.succeeds("-q", "-n", SCRIPT, "-c", command)
        self.assertEqual(result.stdout.strip(), "0 apple\n1 apple\n2 apple\nopened 3", result.stderr)

    def by_each_compiler(self, build):
        """Builds and traces the program by each compiler of C and C++."""
        for compiler in (["gcc"], ["g++", "-x", "c++"], ["clang-16"], ["clang++-16", "-x", "c++"]):
            if shutil.which(compiler[0]):
                with self.subTest(compiler=compiler):
                    build(compiler)
                    self.check()

    def test_c_and_cxx_by_gcc_and_clang_as_pie_and_not(self):
        for compiled, linked in (("-fPIE", "-pie"), ("-fno-pie", "-no-pie"), ("-fno-pie", "-static")):
            def build(compiler):
                self.compile(compiler, compiled)
                self.run_tool(compiler[0], linked, "main.o", "sell.o", "shop.o", "-o", "program")
            with self.subTest(linked=linked):
                self.by_each_compiler(build)

    def test_a_shared_library(self):
        def build(compiler):
            self.compile(compiler, "-fPIC")
            self.run_tool(compiler[0], "-shared", "sell.o", "shop.o", "-o", "libsell.so")
            self.run_tool(compiler[0], "main.o", "-L.", "-lsell", "-Wl,-rpath,$ORIGIN", "-o", "program")
        self.by_each_compiler(build)

    def test_a_static_library(self):
        def build(compiler):
            self.compile(compiler)
            (self.folder / "libsell.a").unlink(missing_ok=True)
            self.run_tool("ar", "rcs", "libsell.a", "sell.o", "shop.o")
            self.run_tool(compiler[0], "main.o", "-L.", "-lsell", "-o", "program")
        self.by_each_compiler(build)

    def test_link_time_optimization(self):
        """Objects hold the compiler's own code, into which -G does not look. clang's needs a linker that reads it."""
        for compiler, linker in ((["gcc"], []), (["g++", "-x", "c++"], []), (["clang-16"], ["-fuse-ld=mold"]), (["clang++-16", "-x", "c++"], ["-fuse-ld=mold"])):
            if shutil.which(compiler[0]) and (not linker or shutil.which("mold")):
                with self.subTest(compiler=compiler):
                    self.compile(compiler, "-flto")
                    self.run_tool(compiler[0], "-flto", "-O2", *linker, "main.o", "sell.o", "shop.o", "-o", "program")
                    self.check()

    def test_probes_in_inline_functions(self):
        """Each place where a function is inlined has its own marker; all are one probe."""
        self.write("inline.cpp", """#include "shop.h"
template <class T> inline void sell(T count, const char* what) { if (SHOP_SOLD_ITEM_ENABLED()) SHOP_SOLD_ITEM((int)count, (char*)what); }
inline void twice(int count) { sell(count, "int"); sell((long)count, "long"); }
int main() { for (int i = 0; i < 3; i++) twice(i); twice(7); }
""")
        for compiler in ("g++", "clang++-16"):
            if shutil.which(compiler):
                with self.subTest(compiler=compiler):
                    self.succeeds("-h", "-s", "shop.d", "-o", "shop.h")
                    self.run_tool(compiler, "-O2", "-c", "inline.cpp", "-o", "inline.o")
                    self.succeeds("-G", "-s", "shop.d", "-o", "shop.o", "inline.o")
                    self.run_tool(compiler, "inline.o", "shop.o", "-o", "program")
                    if reason := dvmtest.missing_privilege():
                        dvmtest.skip_or_fail(self, reason)
                    result = self.succeeds("-q", "-n", 'shop$target:::sold-item { @[copyinstr(arg1)] = sum(arg0); }', "-c", "./program")
                    self.assertEqual(result.stdout.split(), ["int", "10", "long", "10"], result.stderr)

    def test_is_enabled_probes_of_systemtap_headers(self):
        """SystemTap's header declares the semaphore; the object of -G defines it."""
        self.write("main.c", "extern unsigned short shop_sold__item_semaphore;\nint main(void) { return shop_sold__item_semaphore; }\n")
        self.succeeds("-G", "-s", "shop.d", "-o", "shop.o")
        self.run_tool("gcc", "main.c", "shop.o", "-o", "program")
        self.run_tool("./program")

    def test_names_of_the_output_follow_the_script(self):
        self.succeeds("-h", "-s", "shop.d")
        self.succeeds("-G", "-s", "shop.d")
        for name in ("shop.h", "shop.o"):
            self.assertTrue((self.folder / name).exists(), name)

    def test_objects_without_the_probes_are_refused(self):
        self.write("none.c", "int none;\n")
        self.run_tool("gcc", "-c", "none.c")
        for objects, message in ((["none.o"], "No probe sites found for declared provider shop"),
                                 (["nothing.o"], "failed to open nothing.o: No such file or directory"),
                                 (["none.c"], "none.c is not an object file of x86-64")):
            result = self.dtrace("-G", "-s", "shop.d", "-o", "out.o", *objects)
            self.assertEqual(result.returncode, 1)
            self.assertTrue(result.stderr.startswith(f"dtrace: failed to link script shop.d: {message}"), result.stderr)
            self.assertFalse((self.folder / "out.o").exists())


if __name__ == "__main__":
    unittest.main()
