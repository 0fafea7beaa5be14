"""Arguments of functions of Rust, which rustc passes by a convention of its own."""

import shutil
import subprocess
import unittest

import dvmtest
from dvmtest import dvm

# Each function also has an argument behind the structure: its register shows how many the structure took.
PASSED = """
use std::hint::black_box;
pub struct Pair { x: i32, y: i16 }
pub struct Inner { at: Pair }
pub struct Three { a: i16, b: i16, c: i16 }
pub struct Large { a: i32, b: i32, c: i32 }
pub struct Floats([f32; 2]);
pub struct Mixed { f: f32, i: i32 }
#[inline(never)] pub fn pair(p: Pair, k: i32) -> Pair { black_box(Pair { x: p.x + k, y: p.y }) }
#[inline(never)] pub fn inner(p: Inner, k: i32) -> i32 { black_box(p.at.x + k) }
#[inline(never)] pub fn three(p: Three, k: i32) -> i32 { black_box((p.a + p.b + p.c) as i32 + k) }
#[inline(never)] pub fn large(p: Large, k: i32) -> i32 { black_box(p.a + p.b + p.c + k) }
#[inline(never)] pub fn floats(p: Floats, k: i32) -> i32 { black_box(p.0[1] as i32 + k) }
#[inline(never)] pub fn mixed(p: Mixed, k: i32) -> i32 { black_box(p.f as i32 + p.i + k) }
#[inline(never)] pub fn tuple(p: (i8, i32), k: i32) -> i32 { black_box(p.0 as i32 + p.1 + k) }
#[inline(never)] pub fn split(a: i32, b: i32, c: i32, d: i32, e: i32, s: &str, k: i32) -> i32 { black_box(a + b + c + d + e + s.len() as i32 + k) }
pub enum Choice { Number(i32), Letter(char), Nothing }
#[inline(never)] pub fn option(o: Option<i64>, k: i32) -> i32 { black_box(o.unwrap_or(0) as i32 + k) }
#[inline(never)] pub fn choice(c: Choice, k: i32) -> i32 { black_box(match c { Choice::Number(n) => n, Choice::Letter(_) => 1, Choice::Nothing => 2 } + k) }
#[inline(never)] pub fn found(k: usize) -> Option<&'static str> { black_box(if k > 0 { Some("found") } else { None }) }
#[inline(never)] pub fn enlarge(k: i32) -> Large { black_box(Large { a: k, b: k, c: k }) }
#[inline(never)] pub fn wide(p: (u128, bool), k: i32) -> i32 { black_box(p.0 as i32 + p.1 as i32 + k) }
#[inline(never)] pub fn several(p: Option<(i64, String)>, k: i32) -> i32 { black_box(match p { Some(it) => it.1.len() as i32, None => 0 } + k) }
pub union Either { number: i64, text: [u8; 24] }
#[inline(never)] pub fn either(e: Either, k: i32) -> i32 { black_box(unsafe { e.number } as i32 + k) }
#[inline(never)] pub fn digest(n: u64) -> [u8; 32] { black_box([n as u8; 32]) }
#[inline(never)] pub fn array(v: [f32; 2], k: i32) -> [i32; 2] { black_box([v[0] as i32, k]) }
#[inline(never)] pub fn longer(v: [[i32; 3]; 2], k: i32) -> i32 { black_box(v[1][2] + k) }
fn main() {
    pair(Pair { x: -3, y: 9 }, 1); inner(Inner { at: Pair { x: 4, y: -5 } }, 2); three(Three { a: 1, b: -2, c: 3 }, 3);
    large(Large { a: 6, b: -7, c: 8 }, 4); floats(Floats([1.0, 2.0]), 5); mixed(Mixed { f: 1.0, i: -9 }, 6); tuple((-1, 2), 7);
    option(Some(3), 9); choice(Choice::Number(4), 10); found(11); enlarge(12);
    wide((1, true), 13); several(None, 14); digest(15); array([1.0, 2.0], 16); longer([[1, 2, 3], [4, 5, -6]], 17); either(Either { text: [255; 24] }, 18);
    split(1, 2, 3, 4, 5, "a string", 8);
}
"""
OPTIMISED = """
use std::hint::black_box;
pub struct Single(i64);
pub struct Large { a: i32, b: i32, c: i32 }
#[inline(never)] pub fn single(p: Single, k: i32) -> Large { black_box(Large { a: p.0 as i32, b: k, c: 1 }) }
fn main() { for k in 8..10 { black_box(single(black_box(Single(-7)), k)); } }
"""
# Without mangled names: of C's convention, or of Rust's.
PLAIN = """
use std::hint::black_box;
#[repr(C)] pub struct Pair { x: i32, y: i16 }
#[repr(C)] pub struct Floats([f32; 2]);
#[repr(C)] pub struct Two { a: i64, b: i32 }
#[repr(C)] pub struct Three { a: i64, b: i64, c: i64 }
#[no_mangle] #[inline(never)] pub extern "C" fn pair(k: i32, p: Pair, last: i32) -> Pair { black_box(Pair { x: p.x + k + last, y: p.y }) }
#[no_mangle] #[inline(never)] pub extern "C" fn floats(k: f32) -> Floats { black_box(Floats([k, k])) }
#[no_mangle] #[inline(never)] pub extern "C" fn same(two: Two, k: i32) -> i64 { black_box(two.a + two.b as i64 + k as i64) }
#[inline(never)] extern "C" fn mangled(three: Three, k: i32) -> i64 { black_box(three.a + three.b + three.c + k as i64) }
fn main() { mangled(Three { a: 1, b: 2, c: 3 }, 4); pair(1, Pair { x: 2, y: 3 }, 4); floats(5.0); same(Two { a: 6, b: -7 }, 8); }
"""
SCRIPT = """
pid$target:a.out:*6passed4pair*:entry { printf("pair %d %d %d\\n", args[0].x, args[0].y, args[1]); }
pid$target:a.out:*6passed5inner*:entry { printf("inner %d %d %d\\n", args[0].at.x, args[0].at.y, args[1]); }
pid$target:a.out:*6passed5three*:entry { printf("three %d %d %d %d\\n", args[0].a, args[0].b, args[0].c, args[1]); }
pid$target:a.out:*6passed5large*:entry { printf("large %d %d %d %d\\n", args[0].a, args[0].b, args[0].c, args[1]); }
pid$target:a.out:*6passed6floats*:entry { printf("floats %d\\n", args[1]); }
pid$target:a.out:*6passed5mixed*:entry { printf("mixed %d %d\\n", args[0].i, args[1]); }
pid$target:a.out:*6passed5tuple*:entry { printf("tuple %d %d %d\\n", args[0].__0, args[0].__1, args[1]); }
pid$target:a.out:*6passed5split*:entry { printf("split %d %s %d %d\\n", args[4], copyinstr((uintptr_t)args[5].data_ptr, args[5].length + 1), args[5].length, args[6]); }
pid$target:a.out:*6passed6option*:entry { printf("option %d\\n", args[1]); }
pid$target:a.out:*6passed6choice*:entry { printf("choice %d\\n", args[1]); }
pid$target:a.out:*6passed7several*:entry { printf("several %d\\n", args[1]); }
pid$target:a.out:*6passed6digest*:entry { printf("digest %d\\n", args[0]); }
pid$target:a.out:*6passed6digest*:return { printf("digest %d\\n", args[1][31]); }
pid$target:a.out:*6passed5array*:entry { printf("array %d\\n", args[1]); }
pid$target:a.out:*6passed6longer*:entry { printf("longer %d %d\\n", args[0][1][2], args[1]); }
pid$target:a.out:*6passed6either*:entry { printf("either %d %d\\n", args[0].number, args[1]); }
pid$target:a.out:*6passed5found*:entry { printf("found %d\\n", args[0]); }
"""
WANTED = ["pair -3 9 1", "inner 4 -5 2", "three 1 -2 3 3", "large 6 -7 8 4", "floats 5", "mixed -9 6", "tuple -1 2 7", "option 9", "choice 10",
          "found 11", "several 14", "digest 15", "digest 15", "array 16", "longer -6 17", "either -1 18", "split 5 a string 8 8"]


class Rust(dvmtest.PrivilegedTest):
    def setUp(self):
        super().setUp()
        if not shutil.which("rustc"):
            dvmtest.skip_or_fail(self, "no rustc")
        self.folder = dvmtest.own_folder(self)

    def compile(self, source, *words):
        (self.folder / "passed.rs").write_text(source)
        path = str(self.folder / "passed")
        subprocess.run(["rustc", "-g", *words, "--crate-name", "passed", "-o", path, str(self.folder / "passed.rs")], check=True, capture_output=True)
        return path

    def test_structures(self):
        result = dvm("run", "-q", "-n", SCRIPT, "-c", self.compile(PASSED))
        self.assertEqual(result.stdout.split("\n")[:-2], WANTED, result.stderr)

    def test_a_pair_is_returned_in_two_registers(self):
        result = dvm("run", "-q", "-n", "pid$target:a.out:*6passed4pair*:return { trace(args[1].y); }", "-c", self.compile(PASSED))
        self.assertIn("it is returned in several registers", result.stderr)

    def test_a_result_may_be_returned_in_memory(self):
        result = dvm("run", "-q", "-n", "pid$target:a.out:*6passed7enlarge*:entry { trace(args[0]); }", "-c", self.compile(PASSED))
        self.assertIn("args[0]: the function returns its result in an unknown way", result.stderr)
        result = dvm("run", "-q", "-n", "pid$target:a.out:*6passed7enlarge*:return { trace(args[1].a); }", "-c", self.compile(PASSED))
        self.assertIn("args[1]: it is returned in an unknown way", result.stderr)

    def test_a_pair_with_an_integer_of_16_bytes_is_refused(self):
        result = dvm("run", "-q", "-n", "pid$target:a.out:*6passed4wide*:entry { trace(args[1]); }", "-c", self.compile(PASSED))
        self.assertIn("args[1]: it follows an argument that is passed in an unknown way", result.stderr)

    def test_debug_information_names_the_registers_of_arguments_that_are_in_unknown_places(self):
        script = 'pid$target:a.out:*6passed6single*:entry { printf("%d %d\\n", args[0].__0, args[1]); }'
        result = dvm("run", "-q", "-n", script, "-c", self.compile(OPTIMISED, "-O"))
        self.assertEqual(result.stdout, "-7 8\n-7 9\n\n", result.stderr)

    def test_an_array_in_a_register_is_refused(self):
        for probe, argument in (("entry", "args[0]"), ("return", "args[1]")):
            result = dvm("run", "-q", "-n", f"pid$target:a.out:*6passed5array*:{probe} {{ trace({argument}[0]); }}", "-c", self.compile(PASSED))
            self.assertIn(f"{argument}: it is an array in a register", result.stderr)

    def test_arguments_that_c_and_rust_pass_in_different_ways_are_refused(self):
        program = self.compile(PLAIN)
        for probe in ("pair:entry { trace(args[1].x); }", "pair:entry { trace(args[2]); }", "pair:return { trace(args[1].x); }",
                      "floats:return { trace(args[1]); }", "*7mangled*:entry { trace(args[0].a); }", "*7mangled*:entry { trace(args[1]); }"):
            result = dvm("run", "-q", "-n", f"pid$target:a.out:{probe}", "-c", program)
            self.assertIn("it is not known whether the function uses C's or Rust's calling convention", result.stderr, probe)
        script = "pid$target:a.out:pair:entry { trace(args[0]); } pid$target:a.out:same:entry { trace(args[0].b); trace(args[1]); }"
        self.assertEqual(dvm("run", "-q", "-n", script, "-c", program).stdout.split(), ["1-78"])


if __name__ == "__main__":
    unittest.main()
