"""-C: macros, included files, and errors that name the place in the file before preprocessing."""

import contextlib
import fcntl
import os
import pathlib
import signal
import subprocess
import tempfile
import unittest

import dvmtest
from dvmtest import dvm


HEADERS = """aio.h arpa/inet.h arpa/nameser.h dirent.h dlfcn.h elf.h errno.h fcntl.h grp.h inttypes.h limits.h link.h linux/bpf.h linux/btrfs.h
linux/eventpoll.h linux/fs.h linux/if_ether.h linux/io_uring.h linux/ipv6.h linux/netlink.h linux/perf_event.h linux/sched.h linux/tcp.h
linux/types.h linux/videodev2.h linux/virtio_blk.h locale.h math.h mqueue.h net/if.h netdb.h netinet/in.h netinet/ip.h netinet/tcp.h poll.h
pthread.h pwd.h regex.h resolv.h sched.h search.h semaphore.h setjmp.h signal.h spawn.h stdio.h stdlib.h string.h sys/epoll.h sys/ipc.h
sys/mman.h sys/mount.h sys/param.h sys/ptrace.h sys/resource.h sys/sem.h sys/shm.h sys/signalfd.h sys/socket.h sys/stat.h sys/statvfs.h
sys/sysinfo.h sys/time.h sys/types.h sys/uio.h sys/un.h sys/user.h sys/utsname.h sys/wait.h sys/xattr.h termios.h time.h ucontext.h
unistd.h utime.h wchar.h""".split()


class Preprocessor(dvmtest.FolderTest):
    def run_ok(self, *args, **kwargs):
        result = dvm("run", "-q", *args, **kwargs)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def test_macros_and_conditions(self):
        script = self.write("a.d", '#define N 3\n#ifdef __SUNW_D\nBEGIN { printf("%d %d", N, M); exit(0); }\n#endif\n')
        self.assertIn("3 4", self.run_ok("-C", "-D", "M=4", "-s", script).stdout)
        self.assertIn("3 5", self.run_ok("-C", "-DM=5", script).stdout)

    def test_undefine(self):
        script = self.write("a.d", '#ifdef M\n#error defined\n#endif\nBEGIN { printf("fine"); exit(0); }\n')
        self.assertIn("fine", self.run_ok("-C", "-D", "M", "-U", "M", "-s", script).stdout)

    def test_no_extensions_of_gcc(self):
        script = self.write("a.d", '#ifdef __GNUC__\n#error defined\n#endif\nBEGIN { printf("fine"); exit(0); }\n')
        self.assertIn("fine", self.run_ok("-C", "-s", script).stdout)

    def test_functions_of_headers_are_dropped(self):
        self.write("inline.h", 'static inline int\nf (int c)\n{\n  const char *s = "}";\n  if (c) { return s[0]; }\n  return 0;\n}\nstruct s { int x; };\n'
                               "# define TWO 2\nint g (void) { return TWO; }\ntypedef struct s s_t;\n")
        script = self.write("a.d", '#include "inline.h"\nBEGIN { printf("%d %d", sizeof (s_t), TWO); exit(__LINE__); }\n')
        result = dvm("run", "-q", "-C", "-s", script)
        self.assertEqual((result.returncode, result.stdout.strip()), (2, "4 2"), result.stderr)
        self.write("inline.h", "static int f(void)\n{\n  return 1;\n}\nint f;;\nnosuch g;\n")
        self.assertIn('inline.h", line 6', dvm("run", "-C", "-s", script).stderr)

    def test_headers_of_the_system(self):
        script = self.write("a.d", "#include <netinet/in.h>\n#include <stdio.h>\n#include <signal.h>\n#include <linux/fs.h>\n"
                                   'BEGIN { printf("%d %d %d", SIGKILL, sizeof (struct sockaddr_in), __SUNW_D_64); exit(0); }\n')
        self.assertIn("9 16 1", self.run_ok("-C", "-s", script).stdout)

    def test_version_of_d(self):
        script = self.write("a.d", 'BEGIN { printf("%x", __SUNW_D_VERSION); exit(0); }\n')
        self.assertEqual(self.run_ok("-C", "-s", script).stdout.strip(), "2000000")
        self.assertEqual(self.run_ok("-C", "-x", "version=1.5", "-s", script).stdout.strip(), "1005000")

    def test_each_header_of_the_system(self):
        for name in HEADERS:
            source = f"#include <{name}>\n"
            if subprocess.run(["cpp", "-"], input=source, text=True, capture_output=True).returncode != 0:
                continue  # it is not here, or needs another before it
            with self.subTest(name):
                result = dvm("compile", "-C", self.write("a.d", source + "BEGIN { exit(0); }\n"))
                self.assertEqual(result.returncode, 0, result.stderr)

    def test_packed_structures_of_headers(self):
        script = self.write("a.d", "#include <sys/epoll.h>\n#include <linux/if_ether.h>\n"
                                   'BEGIN { printf("%d %d %x", sizeof (struct epoll_event), sizeof (struct ethhdr), EPOLLET); exit(0); }\n')
        self.assertIn("12 14 80000000", self.run_ok("-C", "-s", script).stdout)

    def test_what_only_c_has(self):
        self.write("c.h", "static const struct { int a; } table[] = { { 1 }, { 2 } };\n_Static_assert(sizeof (int) == 4, \"a (b\");\n"
                          "extern int (*hook)(int), variable __attribute__((unused));\nint f(const char *string, int self) __attribute__((const));\n"
                          "struct words { char *string; int self; int counter;; unsigned import : 3; } __attribute__((aligned (32)));\n"
                          "typedef void handler_t(int);\ntypedef handler_t *pointer_t;\n"
                          "enum large { LARGE = 0x80000000, HUGE_ONE = 1L << 40 };\n"
                          "extern __thread struct words *own; extern _Thread_local int self_too;\n"
                          "typedef __signed char small; extern __const__ int *fixed; extern _Noreturn void end(void);\n"
                          "static inline int g(int a)\n{ return a; }\n# 30 \"c.h\"\nstatic inline\nint h(int);\n"
                          "struct holds { __extension__ char c; __int128_t wide; char pad[__alignof__(long)]; };\n")
        script = self.write("a.d", '#include "c.h"\nstruct words w;\nBEGIN { w.string = NULL; w.counter = 2; '
                                   'printf("%d %d %d %u %d", sizeof (w), w.counter, sizeof (struct holds), LARGE, HUGE_ONE >> 38); exit(0); }\n')
        self.assertIn("32 2 48 2147483648 4", self.run_ok("-C", "-s", script).stdout)

    def test_words_of_d_are_names_in_headers(self):
        self.write("c.h", "int a, counter;\nextern char *string, *this[3], offsetof(int import, char string), xlate;\n"
                          "typedef char *string_t, counter_t;\ntypedef struct string { char *text; } translator;\ntypedef int probe;\n"
                          "struct self { int a, string, counter; translator this; probe stringof:3, userland:2, offsetof; const probe import[2];\n"
                          "  struct self *provider; int q, xlate[1]; };\n"
                          "enum provider { string0, userland = 4, counter2, self, this2 = self };\n"
                          "union this { int (*string)(int self, probe import, char *); int counter[self]; probe x; };\n"
                          "struct deep { struct { union { int self, this; }; } string; int counter, probe; } __attribute__((packed));\n"
                          "int import2, import __attribute__((unused)), translator2;\ntypedef char *stringof;\nstruct uses { stringof x, y; };\n")
        script = self.write("a.d", '#include "c.h"\nself int q;\nstring t;\nBEGIN { self->q = 3; t = "x"; this->s = "y"; '
                                   'printf("%d %d %d %d %d", sizeof (struct self), sizeof (union this), sizeof (struct deep), sizeof (struct uses), this2); '
                                   'printf(" %s%s %d", t, this->s, self->q); exit(0); }\n')
        self.assertIn("56 24 12 16 6 xy 3", self.run_ok("-C", "-s", script).stdout)

    def test_further_arguments(self):
        script = self.write("a.d", 'BEGIN { printf("%d", N + M); exit(0); }\n')
        for arguments in (["-xcppargs=-DN=4", "-xcppargs=-DM=5"], ["-xcppargs=-DN=4 -DM=5"]):
            self.assertIn("9", self.run_ok("-C", *arguments, "-xstdc=a", "-s", script).stdout)

    def test_strict_is_traditional(self):
        text = "#ifdef __STDC__\nBEGIN { exit(1); }\n#else\nBEGIN { exit(2); }\n#endif\n"
        for level, status in (("a", 1), ("s", 2)):
            self.assertEqual(dvm("run", "-C", "-q", f"-xstdc={level}", "-n", text).returncode, status)

    def test_include(self):
        self.write("inc/n.h", "#define N 7\n")
        self.write("beside.h", "#define M 8\n")
        script = self.write("a.d", '#include <n.h>\n#include "beside.h"\nBEGIN { printf("%d%d", N, M); exit(0); }\n')
        result = self.run_ok("-C", "-I", str(self.folder / "inc"), "-s", script)
        self.assertIn("78", result.stdout)

    def test_headers_are_named(self):
        header = self.write("n.h", "#define N 7\n")
        script = self.write("a.d", '#include "n.h"\nBEGIN { exit(N - 7); }\n')
        self.assertIn(header, self.run_ok("-C", "-H", "-s", script).stderr)

    def test_interpreter_line_and_pragma(self):
        script = self.write("a.d", '#!/usr/sbin/dtrace -C -s\n#pragma D option quiet\nBEGIN { printf("%d", N); exit(0); }\n')
        self.assertEqual(dvm("run", "-C", "-DN=1", "-s", script).stdout.strip(), "1")

    def test_description(self):
        self.assertIn("12", self.run_ok("-C", "-DN=12", "-n", 'BEGIN { printf("%d", N); exit(0); }').stdout)

    def test_a_killed_run_leaves_its_folder_to_the_next(self):
        slow = pathlib.Path(self.write("slow", "#!/bin/sh\nexec sleep 100\n"))
        slow.chmod(0o755)
        temporary = self.folder / "tmp"
        temporary.mkdir()
        environment = {**dvmtest.ENV, "TMPDIR": str(temporary)}
        run = subprocess.Popen([dvmtest.DVM, "run", "-C", f"-xcpppath={slow}", "-n", "BEGIN"], env=environment, start_new_session=True)
        self.addCleanup(lambda: os.killpg(run.pid, signal.SIGKILL))
        self.assertTrue(dvmtest.eventually(lambda: list(temporary.glob("dvm-include-*/sys/cdefs.h"))))
        used = list(temporary.iterdir())
        self.run_ok("-C", "-n", "BEGIN { exit(0); }", env=environment)
        self.assertEqual(list(temporary.iterdir()), used, "the folder of a living run")
        run.kill()
        run.wait()
        self.run_ok("-C", "-n", "BEGIN { exit(0); }", env=environment)
        self.assertEqual(list(temporary.iterdir()), [])

    def test_runs_at_the_same_time(self):
        environment = {**dvmtest.ENV, "TMPDIR": str(self.folder)}
        command = [dvmtest.DVM, "compile", "-C", self.write("a.d", "BEGIN { exit(0); }")]
        runs = [subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(6)]
        taken = 0
        while any(run.poll() is None for run in runs):
            for folder in self.folder.glob("dvm-include-*"):
                with contextlib.suppress(OSError):  # what a run does with folders that nobody has locked
                    descriptor = os.open(folder, os.O_DIRECTORY)
                    try:
                        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                        folder.rmdir()
                        taken += 1
                    finally:
                        os.close(descriptor)
        self.assertEqual([run.communicate()[1] for run in runs], [b""] * len(runs), f"{taken} were taken")

    def test_another_preprocessor(self):
        other = pathlib.Path(self.write("other", '#!/bin/sh\necho \'BEGIN { printf("other"); exit(0); }\'\n'))
        other.chmod(0o755)
        self.assertEqual(self.run_ok("-C", f"-xcpppath={other}", "-n", "BEGIN").stdout.rstrip(), "other")
        result = dvm("run", "-C", "-xcpppath=/no/such/cpp", "-n", "BEGIN")
        self.assertEqual(result.returncode, 1)
        self.assertIn("failed to run /no/such/cpp: No such file or directory", result.stderr)

    def test_error_names_the_line_and_both_texts(self):
        script = self.write("a.d", "#define TWICE(x) (x + nosuch)\n\n#if 0\n\n#endif\nBEGIN { trace(TWICE(1)); }\n")
        result = dvm("compile", "-C", script)
        self.assertEqual(result.returncode, 1)
        self.assertIn("line 6: failed to resolve nosuch", result.stderr)
        self.assertIn("trace((1 + nosuch))", result.stderr)
        self.assertIn("written as: BEGIN { trace(TWICE(1)); }", result.stderr)

    def test_error_in_an_included_file(self):
        self.write("bad.h", "\n\nint x y;\n")
        script = self.write("a.d", '\n#include "bad.h"\nBEGIN { }\n')
        result = dvm("compile", "-C", script)
        self.assertIn('bad.h", line 3: syntax error near "y;"', result.stderr)
        self.assertIn(f"included from {script}, line 2", result.stderr)

    def test_line_directive_without_cpp(self):
        script = self.write("a.d", '#line 100 "made.d"\nBEGIN { trace(nosuch); }\n# 7\nEND { trace(nothing); }\n')
        result = dvm("compile", script)
        self.assertIn('"made.d", line 100: failed to resolve nosuch', result.stderr)
        self.assertIn('"made.d", line 7: failed to resolve nothing', result.stderr)

    def test_cpp_fails(self):
        script = self.write("a.d", '#include "nosuch.h"\nBEGIN { }\n')
        result = dvm("compile", "-C", script)
        self.assertEqual(result.returncode, 1)
        self.assertIn("Preprocessor failed to process input program", result.stderr)

    def test_no_cpp(self):
        script = self.write("a.d", "BEGIN { }\n")
        result = dvm("compile", "-C", script, env={**os.environ, "PATH": "/nonexistent"})
        self.assertEqual(result.returncode, 1)
        self.assertIn("there is no cpp in the PATH", result.stderr)

    def test_columns_as_data_are_those_of_the_file(self):
        import json
        script = self.write("a.d", "#define LONGNAME 1\nBEGIN { x = LONGNAME; trace(wrong); trace(LONGNAME->x); }\n")
        first, second = json.loads(dvm("compile", "--json", "-C", script).stdout)["diagnostics"]
        line = pathlib.Path(script).read_text().splitlines()[1]
        self.assertEqual(line[first["column"] - 1 : first["end_column"] - 1], "wrong")
        # "1->x" is nowhere in the file: the whole line is meant
        self.assertEqual(line[second["column"] - 1 : second["end_column"] - 1], line)

    def test_a_failing_cpp_as_data(self):
        import json
        script = self.write("a.d", "#error broken\n")
        result = dvm("compile", "--json", "-C", script)
        self.assertEqual(result.returncode, 1)
        (only,) = json.loads(result.stdout)["diagnostics"]
        self.assertEqual(only["file"], script)
        self.assertIn("Preprocessor failed to process input program", only["message"])


class Json(unittest.TestCase):
    def test_all_diagnostics_as_data(self):
        import json
        with tempfile.NamedTemporaryFile("w", suffix=".d") as script:
            script.write("BEGIN { trace(probenam);\n  x = 1 +; }\n")
            script.flush()
            result = dvm("compile", "--json", script.name)
        self.assertEqual(result.returncode, 1)
        first, second = json.loads(result.stdout)["diagnostics"]
        self.assertEqual(first["tag"], "D_IDENT_UNDEF")
        self.assertEqual((first["line"], first["column"], first["end_column"]), (1, 15, 23))
        self.assertEqual(first["severity"], "error")
        self.assertEqual(first["file"], script.name)
        self.assertIn("did you mean 'probename'?", first["hints"])
        self.assertEqual(second["tag"], "D_SYNTAX")
        self.assertEqual(second["line"], 2)

    def test_nothing_wrong(self):
        import json
        result = dvm("compile", "--json", "-n", "BEGIN { trace(1); }")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(json.loads(result.stdout), {"diagnostics": []})


if __name__ == "__main__":
    unittest.main()
