"""Types of programs with parts whose place only an object tells: virtual bases of C++, and variants of Rust."""

import shutil
import subprocess
import unittest

import dvmtest
from dvmtest import dvm

CLASSES = """
struct Air { int o2 = 21; };
struct Water : virtual Air { int salt = 3; };
struct Sea : virtual Water { int depth = 4; };
struct Beach : virtual Water { int width = 6; };
struct Reef : Sea, Beach { int corals = 5; };
extern "C" [[gnu::noinline]] void look(Reef *reef) { asm volatile("" : : "r"(reef) : "memory"); }
int main() { Reef reef; look(&reef); }
"""
HIDDEN = """
struct Base { int hidden = 1; int shared = 2; };
struct Plain : virtual Base { int twice = 5; };
struct Hiding : virtual Base { int hidden = 3; int twice = 6; };
struct Both : virtual Plain, virtual Hiding { int own = 4; };
extern "C" [[gnu::noinline]] void look(Both *both) { asm volatile("" : : "r"(both) : "memory"); }
int main() { Both both; look(&both); }
"""
ENUMERATIONS = """
pub enum Shape { Circle(u8), Square { side: u8, height: u8 } }
pub struct Item<'a> { number: u32, shape: Shape, name: Option<&'a Shape> }
#[no_mangle] #[inline(never)] pub extern "C" fn look(item: &Item) { std::hint::black_box(item); }
fn main() {
  let other = Shape::Square { side: 7, height: 9 };
  look(&Item { number: 5, shape: Shape::Square { side: 7, height: 9 }, name: Some(&other) }); std::process::exit(0);
}
"""


class UnplacedMembers(dvmtest.PrivilegedTest):
    def setUp(self):
        super().setUp()
        self.folder = dvmtest.own_folder(self)

    def look(self, action, *options):
        return dvm("run", "-q", *options, "-n", f"pid$target:a.out:look:entry {{ {action} }}", "-c", str(self.folder / "program"))

    def build(self, name, text, *words):
        (self.folder / name).write_text(text)
        subprocess.run([*words, "-g", str(self.folder / name), "-o", str(self.folder / "program")], check=True, capture_output=True)

    def test_members_of_virtual_bases_are_found_by_the_object(self):
        for compiler in ("g++", "clang++-16"):
            if not shutil.which(compiler):
                continue
            self.build("classes.cpp", CLASSES, compiler, "-O1")
            read = self.look("""this->beach = (struct `Beach *)((char *)args[0] + 16);
                printf("%d %d %d %d %d", args[0]->corals + args[0]->depth, args[0]->salt, this->beach->salt, args[0]->o2, sizeof (args[0]->salt));""",
                             "-x", "backend=breakpoint")  # the program ends at once, and such a member is read when the clause runs
            self.assertEqual(read.stdout.strip(), "9 3 3 21 4", read.stderr)

    def test_of_a_copy_they_are_refused_with_the_reason(self):
        self.build("classes.cpp", CLASSES, "g++", "-O1")
        refused = self.look("this->copy = *args[0]; trace(this->copy.salt);")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("salt is not a member of struct Reef", refused.stderr)
        self.assertIn("hint: it is a member of struct Water, a virtual base, which is found only in the program's memory\n", refused.stderr)
        self.assertEqual(self.look("print(*args[0]);").stdout.count("struct Water (virtual base) = <unknown type>\n"), 1)

    def test_a_class_hides_members_of_its_virtual_bases(self):
        self.build("hidden.cpp", HIDDEN, "g++", "-O1")
        read = self.look('printf("%d %d", args[0]->hidden, args[0]->shared);', "-x", "backend=breakpoint")
        self.assertEqual(read.stdout.strip(), "3 2", read.stderr)
        refused = self.look("trace(args[0]->twice);")
        self.assertIn("twice is ambiguous: struct Plain and struct Hiding, virtual bases of struct Both, have a member of this name\n", refused.stderr)

    def test_through_a_pointer_to_a_copy_they_are_a_fault(self):
        self.build("classes.cpp", CLASSES, "g++", "-O1")
        read = self.look("""this->copy = (struct `Reef *)copyin(arg0, sizeof (struct `Reef)); trace(this->copy->corals); trace(this->copy->salt);""")
        self.assertIn("invalid address", read.stderr)
        self.assertEqual(read.stdout.strip(), "")

    def test_variants_of_rust_lie_in_one_place(self):
        if not shutil.which("rustc"):
            dvmtest.skip_or_fail(self, "no rustc")
        self.build("enumerations.rs", ENUMERATIONS, "rustc", "-O")
        printed = self.look("print(*args[0]); trace(args[0]->shape.variant[1]);").stdout
        self.assertIn("    struct Shape shape = {\n        unsigned char [3] variant = [ 0x1, 0x7, 0x9 ]\n", printed)
        self.assertTrue(printed.endswith("7\n"), printed)
        read = self.look("""printf("%d %d %d %d|", args[0]->shape.discriminant, args[0]->shape.Square.side, args[0]->shape.Square.height, args[0]->number);
                            printf("%d %d", args[0]->name.discriminant != 0, args[0]->name.Some.__0->Square.height);""")
        self.assertEqual(read.stdout.strip(), "1 7 9 5|1 9", read.stderr)


if __name__ == "__main__":
    unittest.main()
