"""Bad input of every kind: a clear error, a non-zero exit, nothing half-done left behind."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import threading
import unittest

import dvmtest
from dvmtest import dvm, program


class Refused(unittest.TestCase):
    def refused(self, *args, says, status=1, **kwargs):
        result = dvm(*args, **kwargs)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        self.assertIn(says, result.stderr)
        self.assertNotIn("terminate called", result.stderr)
        self.assertNotIn("Sanitizer", result.stderr)
        return result

    def script(self, data):
        file = tempfile.NamedTemporaryFile(suffix=".d", delete=False)
        self.addCleanup(os.unlink, file.name)
        file.write(data)
        file.close()
        return file.name

    def test_no_such_script(self):
        self.refused("run", "/nonexistent.d", says="failed to open /nonexistent.d: No such file or directory")

    def test_a_folder_as_script(self):
        self.refused("run", "/tmp", says="failed to open /tmp")

    def test_no_script_at_all(self):
        self.refused("run", says="no script")

    def test_empty_script(self):
        self.refused("run", self.script(b""), says="empty")

    def test_comment_only_script(self):
        self.refused("run", self.script(b"/* nothing */\n"), says="empty")

    def test_declarations_only(self):
        self.refused("run", self.script(b"#pragma D option quiet\nint x;\n"), says="no probes matched")

    def test_a_byte_order_mark_is_no_part_of_the_script(self):
        script = self.script("\ufeffBEGIN { printf(\"ok\\n\"); exit(0); }\n".encode())
        self.assertIn("ok", dvm("run", "-q", script).stdout)

    def test_binary_junk(self):
        for seed in range(4):
            junk = bytes((i * 2654435761 >> (seed + 3)) & 0xFF for i in range(4096))
            self.refused("run", self.script(junk), says="failed to compile")

    def test_a_program_as_script(self):
        self.refused("run", "/bin/true", says="failed to compile")

    def test_one_megabyte_of_clauses(self):
        """In time that is linear in their number."""
        few, many = (1000, 4000) if dvmtest.SANITIZED else (5000, 20000)
        times = [self.cpu_time_of_clauses(count) for count in (few, many)]
        self.assertLess(times[1], 8 * times[0], times)

    def cpu_time_of_clauses(self, count):
        script = self.script(b"BEGIN { x = 1; }".ljust(1000000 // count) * count + b"BEGIN { exit(7); }\n")
        before = dvmtest.cpu_time_of_children()
        result = dvm("run", script, "-q")
        self.assertEqual(result.returncode, 7, result.stderr[-500:])
        return dvmtest.cpu_time_of_children() - before

    def test_one_megabyte_of_parentheses(self):
        self.refused("run", self.script(b"BEGIN { x = " + b"(" * 1000000 + b"; }"), says="failed to compile")

    def test_error_shows_the_line_and_a_caret(self):
        path = self.script(b"BEGIN\n{\n\ttrace(nosuch);\n}\n")
        result = self.refused("run", "-xerrtags", path, says="[D_IDENT_UNDEF] line 3: failed to resolve nosuch: Unknown variable name")
        self.assertIn("trace(nosuch);", result.stderr)
        self.assertIn("^", result.stderr)

    def test_several_errors_are_reported(self):
        result = self.refused("run", self.script(b"BEGIN { trace(one); }\nBEGIN { trace(two); }\n"), says="failed to resolve one")
        self.assertIn("failed to resolve two", result.stderr)

    def test_unknown_option(self):
        self.refused("run", "-xnosuch", "-n", "BEGIN { exit(0); }", says="nosuch")

    def test_unknown_flag(self):
        self.refused("run", "--nosuch", says="--nosuch", status=2)

    def test_no_such_provider(self):
        self.refused("run", "-n", "nosuch:::x { }", says="does not match any probes")
        self.refused("run", "-n", "interval:s:1 { }", says="'interval' is a word of bpftrace; D has tick-1s")
        for text in ("uprobe:/bin/bash:readline { @ = count(); }", "pid1:/bin/bash:readline:entry { }", "uretprobe:/usr/lib/libc.so.6:malloc /arg0/ { }"):
            self.refused("run", "-n", text, says="a module is the last part of a path: bpftrace's uprobe:/bin/bash:readline is pid$target:bash:readline:entry in D")

    def test_a_predicate_behind_a_colon_is_no_path(self):
        for text in ("syscall:::/pid == 1 &&/ { }", "proc:::/execname == \"x\"/ { trace(1 2); }", "proc:::/pid/{trace(1 2);}"):
            self.assertNotIn("path", self.refused("run", "-n", text, says="syntax error").stderr)

    def test_no_such_pid(self):
        self.refused("run", "-n", "pid$target:::entry { }", "-p", "4194300", says="4194300")

    def test_no_pid(self):
        for text in ("abc", "12x", "0", "-1", "99999999999"):
            self.refused("run", "-n", "BEGIN { }", "-p", text, says=f"dvm: invalid pid: {text}\n")
        for text in ("", " "):
            self.refused("run", "-n", "BEGIN { }", "-p", text, says="dvm: invalid pid: the value is empty\n")
        self.refused("run", "-n", "BEGIN { }", "-p", "12 13", says="dvm: invalid pid: 12 13\n    hint: -p takes a single process id\n")

    def test_no_such_command(self):
        self.refused("run", "-n", "BEGIN { }", "-c", "/nonexistent/program", says="/nonexistent/program")

    def test_output_not_writable(self):
        self.refused("run", "-o", "/nonexistent/out", "-n", "BEGIN { exit(0); }", says="/nonexistent/out")

    def test_an_empty_command(self):
        self.refused("run", "-n", "BEGIN { }", "-c", "", says="the command is empty", status=2)
        for option in ("-o", "--otlp", "--prometheus", "--html", "--flame", "--trace-events"):
            self.refused("run", "-n", "BEGIN { }", option, "", says=f"{option}: the value is empty", status=2)

    def test_a_full_disk(self):
        for arguments in (["run", "-q", "-n", 'BEGIN { trace("x"); exit(0); }'], ["list", "dtrace:::"], ["compile", "-n", "BEGIN { trace(1); }"], ["--help"], ["run", "--help"], ["-V"]):
            with open("/dev/full", "w") as full:
                result = subprocess.run([dvmtest.DVM, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, env=dvmtest.ENV, timeout=60)
            self.assertEqual(result.returncode, 1, arguments)
            self.assertIn("dvm: could not write the output: No space left on device", result.stderr)
            self.assertEqual(result.stderr.count("could not write"), 1)

    def test_closed_standard_output(self):
        result = subprocess.run([dvmtest.DVM, "run", "-q", "-n", 'BEGIN { trace("x"); exit(0); }'], stderr=subprocess.PIPE, text=True,
                                env=dvmtest.ENV, preexec_fn=lambda: os.close(1), timeout=60)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("dvm: could not write the output: Bad file descriptor", result.stderr)

    def test_recording_that_is_none(self):
        self.refused("replay", "/bin/true", "-n", "BEGIN { exit(0); }", says="/bin/true")
        self.refused("replay", "/nonexistent", "-n", "BEGIN { exit(0); }", says="/nonexistent")

    def test_recording_to_an_unwritable_place(self):
        self.refused("record", "-o", "/nonexistent/trace", "-n", "BEGIN { exit(0); }", says="/nonexistent/trace")


class RefusedOnProcesses(dvmtest.PrivilegedTest):
    refused = Refused.refused

    def test_no_such_function_suggests_near_names(self):
        result = self.refused("run", "-n", "pid$target:looper:fnuc:entry { }", "-c", program("looper") + " 1", says="failed to lookup 'fnuc' in module 'looper'")
        self.assertIn("func", result.stderr)

    def test_no_such_module(self):
        self.refused("run", "-n", "pid$target:libnosuch:f:entry { }", "-c", program("looper") + " 1", says="libnosuch")

    def test_process_exits_while_attaching(self):
        steps = 12 if dvmtest.SANITIZED else 24  # each plans all functions of the program
        for number in range(steps):
            target = subprocess.Popen(["sleep", str(number * 0.72 / steps)])
            parent = threading.Thread(target=target.wait)
            if number % 2 == 0:  # else it stays as a zombie
                parent.start()
            result = dvm("run", "-n", "pid$target:::entry { @ = count(); }", "-p", str(target.pid))
            target.wait()
            if number % 2 == 0:
                parent.join()
            self.assertIn(result.returncode, (0, 1), result.stderr)
            self.assertRegex(result.stderr, rf"(pid|process) {target.pid}(:.*)? (has exited|[Nn]o such process)")
            self.assertNotIn("cannot probe", result.stderr)
            self.assertLessEqual(result.stderr.count("exited"), 1, result.stderr)

    def test_unreadable_elf(self):
        with tempfile.TemporaryDirectory() as folder:
            broken = pathlib.Path(folder, "broken")
            data = bytearray(pathlib.Path(program("looper")).read_bytes())
            data[0x28:0x30] = b"\xff" * 8  # the offset of the section headers
            broken.write_bytes(data)
            broken.chmod(0o755)
            self.refused("run", "-n", "pid$target:broken:func:entry { }", "-c", f"{broken} 1", says="broken")

    def test_one_mistake_is_told_once(self):
        """Consequences of a mistake are not reported."""
        for text in ("BEGIN { @a = foo(1); printa(@a); clear(@a); }", "BEGIN { trace(1 # 2); }", "inline int A = ; BEGIN { trace(A); }",
                     "struct s { int a; BEGIN { trace(1); }", "BEGIN { for (i = 0; i < 3; i++) { } }", "nosuch:::x { trace(args[0]); }",
                     "syscall::opn:entry { trace(args[0]->x); }", "BEGIN { self->x = foo(); trace(self->x); }"):
            with self.subTest(text):
                result = dvm("run", "-n", text)
                self.assertEqual((result.returncode, result.stderr.count("dvm: ")), (1, 1), result.stderr)

    def test_misspelt_providers_get_the_near_name(self):
        for text, near in (("prco:::exec { }", "proc"), ("syscal::open:entry { }", "syscall"), ("pdi$target:::entry { }", r"pid\d+")):
            result = dvm("run", "-n", text, "-c", "sleep 0")
            self.assertEqual(result.returncode, 1)
            self.assertRegex(result.stderr, f"hint: did you mean '{near}'\\?\n")

    def test_not_permitted(self):
        if os.geteuid() != 0:
            dvmtest.skip_or_fail(self, "needs root, to become another user")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        os.chmod(folder.name, 0o755)  # another user may not reach the build folder
        target = subprocess.Popen(["sleep", "30"])
        try:
            result = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", shutil.copy(dvmtest.DVM, folder.name),
                                     "run", "-n", "pid$target:libc:read:entry { }", "-p", str(target.pid)],
                                    capture_output=True, text=True, env=dvmtest.ENV, cwd=folder.name)
            self.assertEqual(result.returncode, 1, result.stderr)
            self.assertIn("dvm: ", result.stderr)
            self.assertRegex(result.stderr, "(?i)permi|root|CAP_")
        finally:
            target.kill()
            target.wait()


if __name__ == "__main__":
    unittest.main()
