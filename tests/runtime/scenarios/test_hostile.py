"""Malicious files of a traced program: dvm does not hang, and uses no more memory than their size justifies."""

import os
import struct
import subprocess
import threading
import unittest
import zlib

import dvmtest

SOURCE = """
struct pair { int first, second; };
__attribute__((noinline)) int take(struct pair* p) { __asm__ volatile(""); return p->first; }
int main(void) { struct pair p = {42, 7}; return take(&p) == 42 ? 0 : 1; }
"""
SCRIPT = 'pid$target:a.out:take:entry { printf("first %d;", args[0]->first); }'
MEGABYTE = 1 << 20


class Hostile(dvmtest.PrivilegedTest):
    def setUp(self):
        super().setUp()
        self.folder = dvmtest.own_folder(self)
        self.program = self.folder / "target"

    def build(self, *flags):
        (self.folder / "target.c").write_text(SOURCE)
        subprocess.run([os.environ.get("DVM_CC", "cc"), "-O0", "-g", *flags, "target.c", "-o", "target"], cwd=self.folder, check=True,
                       env=dict(os.environ, CCACHE_DISABLE="1"))

    def add_section(self, name, data, compressed=False):
        """Adds a section, and marks it as one that the linker has compressed."""
        (self.folder / "data").write_bytes(data)
        subprocess.run(["objcopy", "--add-section", f"{name}={self.folder}/data", self.program], check=True)
        if compressed:
            self.change_section(name, lambda fields: fields.__setitem__(2, fields[2] | 0x800))

    def change_section(self, name, change):
        """Changes the fields of a section header: name, type, flags, address, offset, size, link, information, alignment, entry size."""
        image = bytearray(self.program.read_bytes())
        table, = struct.unpack_from("<Q", image, 0x28)
        count, names = struct.unpack_from("<HH", image, 0x3c)
        header = lambda index: list(struct.unpack_from("<IIQQQQIIQQ", image, table + index * 64))
        text = header(names)[4]
        for index in range(count):
            fields = header(index)
            begin = text + fields[0]
            if image[begin:image.index(0, begin)] == name.encode():
                change(fields)
                struct.pack_into("<IIQQQQIIQQ", image, table + index * 64, *fields)
        self.program.write_bytes(image)

    def run_dvm(self, script=SCRIPT):
        """The status, what dvm printed, and the most memory that it took, in bytes."""
        out, err = self.folder / "out", self.folder / "err"
        with open(out, "w") as stdout, open(err, "w") as stderr:
            child = subprocess.Popen([dvmtest.DVM, "run", "-q", "-n", script, "-c", str(self.program)], stdin=subprocess.DEVNULL, stdout=stdout,
                                     stderr=stderr, env=dvmtest.ENV)
            timer = threading.Timer(60, child.kill)
            timer.start()
            _, status, usage = os.wait4(child.pid, 0)
            timer.cancel()
            child.returncode = os.waitstatus_to_exitcode(status)
        return child.returncode, out.read_text().strip(), err.read_text(), usage.ru_maxrss * 1024

    def usual_memory(self):
        self.build()
        status, out, err, memory = self.run_dvm()
        self.assertEqual((status, out), (0, "first 42;"), err)
        return memory

    def test_a_pipe_in_place_of_split_debug_information(self):
        self.build("-gsplit-dwarf")
        self.assertEqual(self.run_dvm()[:2], (0, "first 42;"))
        part, = self.folder.glob("*.dwo")
        part.unlink()
        os.mkfifo(part)
        status, out, err, _ = self.run_dvm()
        self.assertEqual((status, out), (1, ""), err)
        self.assertIn(f"{part}: it is not a regular file", err)

    def test_a_pipe_in_place_of_shared_debug_information(self):
        self.build()
        os.mkfifo(self.folder / "shared")
        self.add_section(".gnu_debugaltlink", str(self.folder / "shared").encode() + b"\0" + bytes(20))
        status, out, err, _ = self.run_dvm()
        self.assertEqual((status, out), (0, "first 42;"), err)
        status, out, err, _ = self.run_dvm("pid$target:a.out:take:entry { trace(((struct nowhere *)arg0)->x); }")
        self.assertEqual((status, out), (1, ""), err)
        self.assertIn(f"{self.folder}/shared: it is not a regular file", err)

    def packed(self, name, header, compressed):
        usual = self.usual_memory()
        subprocess.run(["objcopy", "--strip-debug", self.program], check=True)
        packer = zlib.compressobj(9)
        body = b"".join(packer.compress(bytes(MEGABYTE)) for _ in range(512)) + packer.flush()
        self.add_section(name, header(512 * MEGABYTE) + body, compressed)
        status, out, err, memory = self.run_dvm()
        self.assertEqual((status, out), (1, ""), err)
        self.assertIn("its debug information cannot be read: it claims to hold 53", err)
        self.assertIn("(64 MiB and 16 times that)", err)
        self.assertLess(memory - usual, 100 * MEGABYTE)

    def test_a_compressed_section_of_a_thousand_times_its_size(self):
        self.packed(".debug_info", lambda size: struct.pack("<IIQQ", 1, 0, size, 1), True)

    def test_a_compressed_section_of_the_older_form(self):
        self.packed(".zdebug_info", lambda size: b"ZLIB" + struct.pack(">Q", size), False)

    def test_a_symbol_table_that_lies_in_a_hole(self):
        usual = self.usual_memory()
        size = os.path.getsize(self.program)

        def lie_in_hole(fields):
            fields[4], fields[5] = size, 1024 * MEGABYTE // 24 * 24

        self.change_section(".symtab", lie_in_hole)
        os.truncate(self.program, size + 1024 * MEGABYTE)
        status, out, err, memory = self.run_dvm()
        self.assertEqual((status, out), (1, ""), err)
        self.assertIn("it claims to hold ", err)
        self.assertLess(memory - usual, 100 * MEGABYTE)


if __name__ == "__main__":
    unittest.main()
