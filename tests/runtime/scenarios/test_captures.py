"""Values are those of the firing, however large they may be; those that are not are counted at the end."""

import collections
import json
import os
import sys
import tempfile
import unittest

import dvmtest
from dvmtest import dvm, program

ROUNDS = 20
LATE = "{} values were read after their firing, not at it, and may differ from what they were then"


class Captures(dvmtest.PrivilegedTest):
    def run_on(self, text, arguments, *options):
        """Rows of aggregations, and standard error."""
        result = dvm("run", "-q", *options, "-n", text, "-c", program("rewriters") + " " + arguments)
        self.assertEqual(result.returncode, 0, result.stderr)
        return [line.split() for line in result.stdout.splitlines() if line], result.stderr

    def test_strings_that_may_be_very_long(self):
        """The buffer holds another key when the clause runs."""
        for size in ("4095", "4096", "8192", "64k"):
            with self.subTest(strsize=size):
                rows, notices = self.run_on("pid$target::named:entry { @[copyinstr(arg0)] = count(); }", "keys 400", "-x", "strsize=" + size)
                self.assertEqual(notices, "")
                self.assertEqual(rows, [[f"key{i:02}", "1600"] for i in range(50)])

    def copies(self, size):
        """Sizes whose copies all had the contents of the buffer at the firing; the number of other copies; and the message about them."""
        text = (f"pid$target::filled:entry {{ this->copy = (char *)copyin(arg0, {size}); "
                f"@[arg1, this->copy[0] == arg2 && this->copy[{size} - 1] == arg2] = count(); }}")
        rows, notices = self.run_on(text, f"sizes {ROUNDS}", "-x", "strsize=8k")
        return {int(size) for size, is_right, count in rows if is_right == "1" and int(count) == ROUNDS}, notices

    def test_copies_of_a_size_that_only_the_firing_knows(self):
        right, notices = self.copies("arg1")
        self.assertLessEqual({257, 1000, 4095, 4096}, right)
        self.assertEqual(notices, f"dvm: {LATE.format(5 * ROUNDS)}\n")  # 4097 to 100,000

    def test_copies_of_a_size_that_only_the_firing_knows_and_a_byte_more(self):
        """Scripts make room for a NUL: copyin(arg0, arg1 + 1)."""
        text = ("pid$target::filled:entry /arg1 < 4096/ { this->copy = (char *)copyin(arg0, arg1 + 1); this->copy[arg1] = 0; "
                "@[arg1, this->copy[0] == arg2 && this->copy[arg1 - 1] == arg2] = count(); }")
        for backend in ("uprobe", "agent"):
            with self.subTest(backend=backend):
                rows, notices = self.run_on(text, f"sizes {ROUNDS}", "-x", "strsize=8k", "-x", "backend=" + backend)
                self.assertEqual(notices, "")
                self.assertEqual({(size, is_right) for size, is_right, _ in rows}, {("257", "1"), ("1000", "1"), ("4095", "1")})

    def test_the_name_of_a_parent_that_ends_at_once(self):
        """The subshells end while `true` starts."""
        result = dvm("run", "-q", "-n", "syscall::exit_group:entry /execname == \"true\" || progenyof($target)/ { "
                                        "@[execname, curthread->t_procp->p_parent->p_user.u_comm != \"\"] = count(); }",
                     "-c", "sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do (true & (exit 1) & /bin/true &); done; wait'")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        rows = [line.split() for line in result.stdout.splitlines() if line]
        self.assertIn("true", [row[0] for row in rows])
        self.assertEqual({"1"}, {row[1] for row in rows}, rows)

    def test_strings_at_an_address_that_a_clause_before_kept(self):
        for kept in ("this->key", "self->key"):
            with self.subTest(kept=kept):
                rows, notices = self.run_on(f"pid$target::named:entry {{ {kept} = arg0; }} "
                                            f"pid$target::named:entry {{ @[copyinstr({kept})] = count(); }}", "keys 400")
                self.assertEqual(notices, "")
                self.assertEqual(rows, [[f"key{i:02}", "1600"] for i in range(50)])

    KEPT = ("pid$target::named:entry {{ self->key = {}; }}", "pid$target::named:return /self->key/ {{ {} self->key = 0; }}")

    def test_memory_at_an_address_kept_until_the_return(self):
        """The program overwrites it as soon as the call has returned."""
        entry, leave = self.KEPT
        texts, characters = ("copyinstr(self->key)", "stringof((char *)self->key)"), ("((char *)self->key)[4]", "((char *)copyin(self->key, 6))[4]")
        for backend in ("uprobe", "agent"):
            for value in texts + characters:
                with self.subTest(backend=backend, value=value):
                    script = entry.format("arg0") + leave.format(f"@[{value}] = count();")
                    rows, notices = self.run_on(script, "keys 100", "-x", "backend=" + backend)
                    self.assertEqual(notices, "")
                    keys = [f"key{i:02}" for i in range(50)]
                    expected = collections.Counter(keys if value in texts else (str(ord(key[4])) for key in keys))
                    self.assertEqual({key: int(count) for key, count in rows}, {key: 400 * count for key, count in expected.items()})

    def test_printed_strings_at_an_address_kept_until_the_return(self):
        entry, leave = self.KEPT
        for backend in ("uprobe", "agent"):
            for end in ("self->key = 0;", ""):
                with self.subTest(backend=backend, end=end):
                    script = entry.format("arg0") + leave.replace("self->key = 0;", end).format('printf("%s\\n", copyinstr(self->key));')
                    rows, notices = self.run_on(script, "keys 20", "-x", "backend=" + backend)
                    self.assertEqual(notices, "")
                    self.assertEqual(sorted(rows), sorted([f"key{i:02}"] for i in range(50) for _ in range(80)))

    def test_memory_at_an_address_that_an_earlier_clause_has_moved(self):
        """In the thread the variable has that value at the record."""
        for body, kept in (("self->key = self->key + 2;", "key"), ("self->moved = self->key + 2; self->key = 0;", "moved")):
            for backend in ("agent", "uprobe"):
                with self.subTest(body=body, backend=backend):
                    script = (f"pid$target::named:entry {{ self->key = arg0; }} pid$target::named:return {{ {body} }} "
                              f'pid$target::named:return {{ printf("%s\\n", copyinstr(self->{kept})); }}')
                    rows, notices = self.run_on(script, "keys 20", "-x", "backend=" + backend)
                    self.assertEqual(notices, "")
                    self.assertEqual(sorted(rows), sorted([f"y{i:02}"] for i in range(50) for _ in range(80)))

    def test_a_clause_that_reads_late_is_named_before(self):
        entry, leave = self.KEPT
        script = entry.format("arg0 + tid - tid") + leave.format("@[copyinstr(self->key)] = count();")
        notices = self.run_on(script, "keys 1", "-x", "backend=uprobe")[1]
        self.assertRegex(notices, r"\Advm: dt_clause_1 pid\d+:rewriters:named:return: the memory at self->key is read after the firing, "
                                  r"and may have changed by then\n")

    def test_a_clause_of_a_late_library_that_reads_late_is_named(self):
        library = os.path.join(os.path.dirname(program("late")), "liblate_library.so")
        script = ("pid$target:a.out:open_and_call:entry { self->path = arg0 + tid - tid; } "
                  "pid$target:liblate*:late_function:entry { @[copyinstr(self->path)] = count(); }")
        result = dvm("run", "-q", "-Z", "-x", "backend=uprobe", "-n", script, "-c", f"{program('late')} {library} 3")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"\Advm: dt_clause_1 pid\d+:liblate_library.so:late_function:entry: the memory at self->path is read after")

    def test_a_clause_of_a_probe_that_is_left_out_is_not_named(self):
        script = "dvmtest$target:::constants { self->p = arg0 + tid - tid; } dvmtest$target:::vectors { trace(arg0); trace(copyinstr(self->p)); }"
        result = dvm("run", "-q", "-x", "backend=uprobe", "-n", script, "-c", program("markers_O0") + " 1")
        self.assertRegex(result.stderr, r"\Advm: 1 probe left out, .*\n\Z")

    def test_arguments_of_system_calls_kept_until_the_return(self):
        """The program overwrites the path, and another word, as soon as the call has returned."""
        calls = ("import ctypes; libc = ctypes.CDLL(None); path = ctypes.create_string_buffer(99); "
                 "[(setattr(path, 'value', b'/nowhere/%02d' % n), libc.open(path, 0), setattr(path, 'value', b'')) for n in range(50)]")
        file = self.enterContext(tempfile.NamedTemporaryFile("w", suffix=".py"))
        file.write(calls)
        file.flush()
        for entry, kept, probe in (("openat", "arg1", "openat"), ("open64", "arg0", "open64"), ("openat", "args[1]", "openat")):
            with self.subTest(kept=kept, probe=probe):
                script = (f"syscall::{entry}:entry /pid == $target/ {{ self->flags = arg2; self->path = {kept}; }} "
                          f"syscall::{probe}:return /self->path && errno == ENOENT/ {{ @[copyinstr(self->path)] = count(); }} "
                          f"syscall::{probe}:return /self->path/ {{ self->path = 0; }}")
                result = dvm("run", "-q", "-n", script, "-c", f"{sys.executable} {file.name}")
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                seen = [line.split() for line in result.stdout.splitlines() if "/nowhere/" in line]
                self.assertEqual(sorted(seen), [[f"/nowhere/{n:02}", "1"] for n in range(50)])

    def test_copies_of_a_constant_size(self):
        for size in (257, 4097, 16384):
            self.assertEqual(self.copies(str(size)), ({257, 1000, 4095, 4096, 4097, 16384, 16385, 65536, 100000}, ""), size)
        self.assertIn(LATE.format(9 * ROUNDS), self.copies("16385")[1])

    def test_several_strings_share_the_room(self):
        """Five that may have 4 KiB each do not fit as a whole."""
        text = "pid$target::named:entry { @[" + ", ".join(["copyinstr(arg0 + %d)" % i for i in range(5)]) + "] = count(); }"
        rows, notices = self.run_on(text, "keys 400", "-x", "strsize=64k", "-x", "ringsize=128m")
        self.assertEqual(notices, "")
        self.assertEqual(rows, [[key[i:] for i in range(5)] + ["1600"] for key in (f"key{i:02}" for i in range(50))])

    def test_long_strings_are_whole(self):
        text = 'pid$target::filled:entry { @[strlen(copyinstr(arg0)), index(copyinstr(arg0), "\\177")] = count(); }'
        for size in (300, 1000, 2000, 4095):  # with the NUL
            self.assertEqual(self.run_on(text, f"sizes {ROUNDS}", "-x", f"strsize={size}"),
                             ([[str(size - 1), "-1", str(9 * ROUNDS)]], ""))

    def at_the_end_of_memory(self, now, later, clauses):
        """Output of clauses on rmdir(), whose argument points to `now` at the end of a mapping, and later to `later`."""
        command = sys.executable + f""" -S -c "import ctypes
c = ctypes.CDLL(None); c.mmap.restype = ctypes.c_void_p
memory = c.mmap(None, ctypes.c_size_t(8192), 3, 0x22, -1, ctypes.c_size_t(0)); c.munmap(ctypes.c_void_p(memory + 4096), ctypes.c_size_t(4096))
text = ctypes.c_void_p(memory + 4096 - {len(now)})
ctypes.memmove(text, {now}, {len(now)}); c.rmdir(text); ctypes.memmove(text, {later}, {len(later)})" """
        for backend in ["uprobe", "agent"]:
            result = dvm("run", "-q", "-x", "backend=" + backend, "-n", clauses, "-c", command)
            self.assertEqual((result.returncode, result.stderr), (0, ""), backend)
            yield result.stdout.split()

    def test_a_short_string_at_the_end_of_memory(self):
        """A longer string at the same address, which another clause may want, cannot be read there."""
        clauses = """pid$target:libc.so.6:rmdir:entry { trace(copyinstr(arg0, 5)); }
                     pid$target:libc.so.6:rmdir:entry /arg0 == 1/ { trace(copyinstr(arg0)); }"""
        for shown in self.at_the_end_of_memory(b"WORLD", b"later", clauses):
            self.assertEqual(shown, ["WORL"])

    def test_a_number_at_the_end_of_memory(self):
        """A wider one at the same address, which another clause may want, cannot be read there."""
        clauses = """pid$target:libc.so.6:rmdir:entry { trace(*(int *)arg0); }
                     pid$target:libc.so.6:rmdir:entry /arg0 == 1/ { trace(*(int64_t *)arg0); }"""
        for shown in self.at_the_end_of_memory(bytes([1, 2, 3, 4]), bytes(4), clauses):
            self.assertEqual(shown, [str(0x04030201)])

    def test_what_could_not_be_read_stays_so(self):
        """A string whose end could not be read at the firing, and another there later; a page that becomes readable."""
        command = sys.executable + """ -S -c "import ctypes, time
c = ctypes.CDLL(None); c.mmap.restype = ctypes.c_void_p; size = ctypes.c_size_t
memory = c.mmap(None, size(8192), 3, 0x22, -1, size(0)); end = ctypes.c_void_p(memory + 4096)
text = ctypes.c_void_p(memory + 4091)
for _ in range(10):
  c.mprotect(end, size(4096), 0); ctypes.memmove(text, b'WORLD', 5); c.rmdir(text)
  c.mprotect(end, size(4096), 3); ctypes.memmove(text, b'late' + bytes(1), 5); time.sleep(.01)" """
        large = ("copyinstr(arg0, 800)", "copyin(arg0, 500)", "copyin(arg0 + 5, 500)")
        for value in ("copyinstr(arg0, 256)", "*(int64_t *)arg0", "*(char *)(arg0 + 5)", "copyin(arg0, 100)", *large):
            with self.subTest(value=value):
                clauses = "pid$target:libc.so.6:rmdir:entry { this->value = %s; } ERROR { @ = count(); }"
                result = dvm("run", "-q", "-x", "strsize=800", "-n", clauses % value, "-c", command)
                self.assertEqual((result.returncode, result.stdout.split()), (0, ["10"]), result.stderr)

    def test_the_end_of_what_could_not_be_read_as_a_whole(self):
        """Another clause reads before it, from a page that becomes readable."""
        command = sys.executable + """ -S -c "import ctypes
c = ctypes.CDLL(None); c.mmap.restype = ctypes.c_void_p; size = ctypes.c_size_t
memory = c.mmap(None, size(8192), 3, 0x22, -1, size(0)); end = ctypes.c_void_p(memory + 4096)
for n in range(10):
  c.mprotect(ctypes.c_void_p(memory), size(4096), 0); ctypes.memmove(end, bytes([n, 7]), 2); c.rmdir(ctypes.c_void_p(memory + 4088))
  c.mprotect(ctypes.c_void_p(memory), size(4096), 3); ctypes.memmove(end, bytes([99, 99]), 2)" """
        clauses = r"""pid$target:libc.so.6:rmdir:entry { this->value = *(int64_t *)arg0; }
                     pid$target:libc.so.6:rmdir:entry { printf("%d ", *(short *)(arg0 + 8) - 1792); } ERROR { n++; } END { trace(n); }"""
        for more in ("", "pid$target:libc.so.6:rmdir:entry /arg0 == 1/ { trace(copyinstr(arg0)); }"):
            with self.subTest(more):
                result = dvm("run", "-q", "-x", "strsize=800", "-n", clauses + more, "-c", command)
                self.assertEqual((result.returncode, result.stderr.count("read after")), (0, 0), result.stderr)
                self.assertEqual(result.stdout.split(), [*map(str, range(10)), "10"], result.stderr)

    def test_what_a_system_call_writes(self):
        """These probes cannot page memory in. Short and long strings have different layouts."""
        text = ('syscall::write:entry /pid == $target/ { @[arg2, strlen(stringof(copyin(arg1, arg2)))] = count(); }')
        loop = "import os\nfor size in (5, 384, 385, 4096): os.write(1, b'x' * size)"
        with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
            script.write(loop)
            script.flush()
            result = dvm("run", "-q", "-x", "strsize=8k", "-o", script.name + ".out", "-n", text, "-c", f"/usr/bin/python3 {script.name}")
            with open(script.name + ".out") as file:
                rows = [[int(field) for field in line.split()] for line in file if line.strip()]
            os.unlink(script.name + ".out")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(sorted(row[:2] for row in rows), [[size, size] for size in (5, 384, 385, 4096)])

    def test_a_replay_has_the_same_late_values(self):
        with tempfile.TemporaryDirectory() as folder:
            path = folder + "/recording"
            script = ("-q", "-x", "strsize=8k", "-n", "pid$target::filled:entry /arg1 < 60000/ { @ = sum(*(char *)copyin(arg0, arg1)); }")
            recorded = dvm("record", "-o", path, *script, "-c", program("rewriters") + f" sizes {ROUNDS}")
            replayed = dvm("replay", path, *script)
        self.assertEqual(replayed.stdout, recorded.stdout)
        said = f"dvm: {LATE.format(3 * ROUNDS)}\n"
        self.assertIn(said, recorded.stderr)
        self.assertEqual(replayed.stderr, said)

    def test_what_dvm_itself_reads_is_not_late(self):
        result = dvm("run", "-q", "-n", "BEGIN { trace(`g_rounds); } tick-100ms { trace(`g_rounds); exit(0); }", "-c", program("rewriters") + " sizes 1")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr, "")

    def test_a_process_that_ends_tells_its_start_and_stack(self):
        script = ("syscall::exit_group:entry /pid == $target/ { this->process = curthread->t_procp; this->age = timestamp - this->process->p_mstart; "
                  'printf("%d %d", this->age > 0 && this->age < 60000000000, this->process->p_stksize > 4096); }')
        result = dvm("run", "-q", "-n", script, "-c", "true")
        self.assertEqual((result.stdout.strip(), result.stderr), ("1 1", ""))

    def test_late_values_in_json(self):
        result = dvm("run", "-q", "--json", "-n", 'pid$target::filled:entry /arg1 == 65536/ { @ = sum(*(char *)copyin(arg0, arg1)); }',
                     "-x", "strsize=8k", "-c", program("rewriters") + f" sizes {ROUNDS}")
        self.assertEqual(result.returncode, 0, result.stderr)
        lines = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([line for line in lines if line["type"] == "late"],
                         [{"type": "late", "count": ROUNDS, "message": LATE.format(ROUNDS)}])


if __name__ == "__main__":
    unittest.main()
