"""D libraries: dvm's own against the C headers, and those of -L and -x syslibdir."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import dvmtest
from dvmtest import dvm

OWN = pathlib.Path(__file__).resolve().parents[3] / "compiler/dlib"


def inlines(name):
    return re.findall(r"^inline int (\w+) = (\w+);", (OWN / name).read_text(), re.M)


def values_in_c(headers, names):
    """What the C compiler makes of the names."""
    source = "#define _GNU_SOURCE\n" + "".join(f"#include <{h}>\n" for h in headers) + "#include <stdio.h>\nint main(void) {\n"
    source += "".join(f'  printf("{n} %d\\n", (int)({n}));\n' for n in names) + "  return 0;\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        binary = pathlib.Path(folder) / "values"
        subprocess.run(["cc", "-x", "c", "-", "-o", binary], input=source, text=True, check=True)
        output = subprocess.run([binary], capture_output=True, text=True, check=True).stdout
    return dict(line.split() for line in output.splitlines())


class Own(unittest.TestCase):
    def check(self, library, headers, at_least, skip=()):
        names = [name for name, _ in inlines(library) if not name.startswith(skip)]
        self.assertGreaterEqual(len(names), at_least)
        statements = "".join(f'printf("{name} %d\\n", {name}); ' for name in names)
        result = dvm("run", "-q", "-n", f"BEGIN {{ {statements} exit(0); }}")
        self.assertEqual(result.returncode, 0, result.stderr)
        in_d = dict(line.split() for line in result.stdout.splitlines() if line)
        self.assertEqual(in_d, values_in_c(headers, names))

    def test_errors_are_those_of_the_c_headers(self):
        self.check("errno.d", ["errno.h"], 130)

    def test_signals_are_those_of_the_c_headers(self):
        self.check("signal.d", ["signal.h"], 40)

    def test_open_flags_are_those_of_the_c_headers(self):
        self.check("io.d", ["fcntl.h"], 20)

    def test_other_constants_are_those_of_the_c_headers(self):
        self.check("unistd.d", ["unistd.h"], 10, skip=("DTRACEFLT_",))

    def test_registers_are_those_of_the_table(self):
        table = (OWN.parents[1] / "vm/dif/registers.def").read_text()
        rows = [(name, number) for number, name in re.findall(r"DVM_REGISTER\( *(\d+), (\w+),", table)]
        self.assertEqual([pair for pair in inlines("regs.d") if pair[1].isdigit()], rows)
        result = dvm("run", "-q", "-n", 'BEGIN { printf("%d %d %d %d %d %d %d", R_PC, R_SP, R_PS, R_R0, R_R1, R_RIP, R_RSP); exit(0); }')
        self.assertEqual(result.stdout, "14 17 16 11 8 36 39\n", result.stderr)

    def test_every_error_and_signal_of_the_c_headers_is_there(self):
        for header, pattern, library in (("errno.h", r"E[A-Z0-9]+", "errno.d"), ("signal.h", r"SIG(?:[A-Z]+|USR\d)", "signal.d")):
            macros = subprocess.run(["cc", "-E", "-dM", "-x", "c", "-"], input=f"#include <{header}>\n", text=True,
                                    capture_output=True, check=True).stdout
            known = {name for name, _ in inlines(library)}
            wanted = set(re.findall(rf"^#define ({pattern}) ", macros, re.M)) - {"SIGSTKSZ"}
            self.assertEqual(wanted - known, set(), library)

    def test_all_compile_without_being_named(self):
        result = dvm("run", "-q", "-x", f"syslibdir={OWN}", "-n", 'BEGIN { printf("%d", EPERM); exit(0); }')
        self.assertEqual((result.returncode, result.stdout), (0, "1\n"), result.stderr)

    def test_the_process_that_fired(self):
        text = ('BEGIN { printf("%d %d %s|%s %d|", curpsinfo->pr_pid - pid, curpsinfo->pr_ppid - ppid, curpsinfo->pr_fname, execname, '
                'curlwpsinfo->pr_lwpid - tid); printf("%c %d %d", curlwpsinfo->pr_sname, curlwpsinfo->pr_state == SONPROC, '
                'curcpu->cpu_id - cpu); exit(0); }')
        result = dvm("run", "-q", "-n", text)
        self.assertEqual(result.stdout, "0 0 dvm|dvm 0|O 1 0\n", result.stderr)

    def test_the_command_line(self):
        result = dvm("run", "-q", "-n", 'BEGIN { printf("%s", curpsinfo->pr_psargs); exit(0); }')
        self.assertRegex(result.stdout, r"^\S*dvm run -q -n BEGIN \{ printf")

    def test_the_ids_of_the_process(self):
        result = dvm("run", "-q", "-n", 'BEGIN { printf("%d %d %d %d %d", curpsinfo->pr_euid, curpsinfo->pr_egid, curpsinfo->pr_pgid, '
                     'curpsinfo->pr_sid, curpsinfo->pr_nlwp >= 1); exit(0); }')
        self.assertEqual(result.stdout, f"{os.geteuid()} {os.getegid()} {os.getpgid(0)} {os.getsid(0)} 1\n", result.stderr)

    def test_the_cpu_that_fired(self):
        result = dvm("run", "-q", "-n", 'BEGIN { printf("%d %d %d %d %d", curcpu->cpu_pset, pset, curcpu->cpu_chip - chip, '
                     'curcpu->cpu_lgrp - lgrp, lgrp >= 0); exit(0); }')
        self.assertEqual(result.stdout, "0 0 0 0 1\n", result.stderr)

    def test_the_working_directory_and_the_root(self):
        with tempfile.TemporaryDirectory() as folder:
            result = dvm("run", "-q", "-n", 'BEGIN { printf("%s %s", cwd, root); exit(0); }', cwd=folder)
        self.assertEqual(result.stdout, f"{folder} /\n", result.stderr)

    def test_a_whole_copy(self):
        result = dvm("run", "-q", "-n", 'BEGIN { this->p = *curpsinfo; printf("%s %d %d", this->p.pr_fname, this->p.pr_pid == pid, '
                     "this->p.pr_contract); exit(0); }")
        self.assertEqual(result.stdout, "dvm 1 0\n", result.stderr)

    def test_a_copy_has_no_members_without_a_value(self):
        result = dvm("run", "-q", "-n", "BEGIN { print(*curlwpsinfo); exit(0); }")
        self.assertIn("    string pr_name = [ \"dvm\" ]\n", result.stdout, result.stderr)
        self.assertNotIn("pr_syscall", result.stdout)

    def test_what_linux_does_not_have_says_so(self):
        result = dvm("run", "-x", "errtags", "-n", "BEGIN { trace(curlwpsinfo->pr_syscall); }")
        self.assertEqual(result.returncode, 1)
        self.assertIn("[D_XLATE_NOCONV]", result.stderr)
        self.assertIn("does not define conversion for member: pr_syscall", result.stderr)

    def test_none_are_read_with_nolibs(self):
        result = dvm("run", "-x", "nolibs", "-n", "BEGIN { trace(EPERM); }")
        self.assertEqual(result.returncode, 1)
        self.assertIn("failed to resolve EPERM", result.stderr)


class Folders(dvmtest.FolderTest):
    def run_program(self, text, *folders):
        options = [word for folder in folders or ["."] for word in ("-L", str(self.folder / folder))]
        return dvm("run", "-q", "-x", "errtags", *options, "-n", text)

    def test_types_inlines_and_options_of_libraries_hold_in_the_program(self):
        self.write("one.d", "#pragma D depends_on library two.d\ninline pair_t *none = (pair_t *)NULL;\n")
        self.write("two.d", "#pragma D option strsize=5\ntypedef struct pair { int a, b; } pair_t;\n")
        result = self.run_program('BEGIN { printf("%d %d %s", sizeof (pair_t), none == NULL, strjoin("abc", "defg")); exit(0); }')
        self.assertEqual((result.returncode, result.stdout), (0, "8 1 abcde\n"), result.stderr)

    def test_the_first_folder_with_a_name_wins(self):
        self.write("a/l.d", "inline int from = 1;")
        self.write("b/l.d", "inline int from = 2;")
        result = self.run_program("BEGIN { exit(from); }", "b", "a")
        self.assertEqual(result.returncode, 2, result.stderr)

    def test_errors_name_the_library(self):
        self.write("broken.d", "inline int fine = 1;\ninline int broken = ;\n")
        result = self.run_program("BEGIN { exit(0); }")
        self.assertEqual(result.returncode, 1)
        self.assertIn(f'invalid probe specifier BEGIN {{ exit(0); }}: [D_SYNTAX] "{self.folder}/broken.d", line 2: syntax error', result.stderr)
        self.assertIn("    inline int broken = ;\n", result.stderr)

    def test_a_cycle_is_reported(self):
        self.write("a.d", "#pragma D depends_on library b.d\n")
        self.write("b.d", "#pragma D depends_on library a.d\n")
        result = self.run_program("BEGIN { exit(0); }")
        self.assertEqual(result.returncode, 1)
        self.assertIn("[D_PRAGMA_DEPEND]", result.stderr)
        self.assertRegex(result.stderr, r"libraries depend on each other: \S*a\.d -> \S*b\.d -> \S*a\.d")

    def test_what_is_not_there_is_left_out_in_silence(self):
        self.write("needs.d", "#pragma D depends_on provider nosuch\ninline int there = 1;\n")
        self.write("needs_it.d", "#pragma D depends_on library needs.d\nthis is no D\n")
        result = self.run_program("BEGIN { exit(0); }")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        result = self.run_program("BEGIN { exit(there); }")
        self.assertIn("failed to resolve there", result.stderr)

    def test_a_library_that_is_not_there_is_an_error(self):
        self.write("east.d", "#pragma D depends_on library nowhere.d\n")
        self.write("west.d", "#pragma D depends_on library east.d\n")
        result = self.run_program("BEGIN { exit(0); }")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"Invalid library dependency in \S*/east\.d: \S*/nowhere\.d\n")

    def test_syslibdir_replaces_the_own(self):
        self.write("mine.d", "inline int EPERM = 77;")
        result = dvm("run", "-q", "-x", f"syslibdir={self.folder}", "-n", "BEGIN { exit(EPERM); }")
        self.assertEqual(result.returncode, 77, result.stderr)

    def test_versions_hide_what_came_later(self):
        self.write("new.d", 'inline int late = 1;\n#pragma D binding "1.7" late\n')
        for version, status in (("1.7", 1), ("1.6.3", 2)):
            result = dvm("run", "-q", "-L", str(self.folder), "-x", f"version={version}", "-n",
                         "inline int chosen = 0; BEGIN { exit(late); }" if status == 1 else "inline int late = 2; BEGIN { exit(late); }")
            self.assertEqual(result.returncode, status, result.stderr)


class Installed(unittest.TestCase):
    def test_the_installed_program_finds_its_libraries(self):
        build = pathlib.Path(dvmtest.DVM).resolve().parents[1]
        with tempfile.TemporaryDirectory() as prefix:
            subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, capture_output=True)
            result = subprocess.run([f"{prefix}/bin/dvm", "run", "-q", "-n", "BEGIN { exit(ENOENT); }"], capture_output=True, text=True,
                                    env=dvmtest.ENV)
            self.assertEqual(result.returncode, 2, result.stderr)
            dtrace = subprocess.run([f"{prefix}/sbin/dtrace", "-qn", "BEGIN { exit(ENOENT); }"], env=dvmtest.ENV)
            self.assertEqual(dtrace.returncode, 2)
            for name in ("lib/dvm/errno.d", "lib/dvm/tools/opensnoop.d", "lib/dvm/workload", "share/doc/dvm/docs/manual/README.md",
                         "share/doc/dvm/copyright", "share/doc/dvm/examples/latency.d"):
                self.assertTrue((pathlib.Path(prefix) / name).exists(), name)

    def test_a_copied_program_has_its_libraries_and_profiles(self):
        with tempfile.TemporaryDirectory() as folder:
            program = shutil.copy(dvmtest.DVM, folder)
            result = subprocess.run([program, "run", "-q", "-n", 'BEGIN { printf("%s %d", curpsinfo->pr_fname, ENOENT); exit(0); }'],
                                    capture_output=True, text=True, env=dvmtest.ENV)
            self.assertEqual((result.returncode, result.stdout), (0, "dvm 2\n"), result.stderr)
            result = subprocess.run([program, "cost", "predict", "--profile", "pentium4-1700", "-n", "BEGIN { trace(1); }"],
                                    capture_output=True, text=True, env=dvmtest.ENV)
            self.assertEqual(result.returncode, 0, result.stderr)

    def test_a_library_beside_the_program_replaces_the_embedded_one(self):
        with tempfile.TemporaryDirectory() as prefix:
            (pathlib.Path(prefix) / "bin").mkdir()
            (pathlib.Path(prefix) / "lib/dvm").mkdir(parents=True)
            (pathlib.Path(prefix) / "lib/dvm/errno.d").write_text("inline int EPERM = 78;")
            program = shutil.copy(dvmtest.DVM, f"{prefix}/bin")
            result = subprocess.run([program, "run", "-q", "-n", "BEGIN { exit(EPERM); }"], capture_output=True, text=True,
                                    env=dvmtest.ENV)
            self.assertEqual(result.returncode, 78, result.stderr)


if __name__ == "__main__":
    unittest.main()
