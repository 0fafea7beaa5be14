"""Names of C++ functions in quotes in probe descriptions: with ::, <, >, commas, parentheses and blanks, also as patterns."""

import re
import shutil
import subprocess
import unittest

import dvmtest
from dvmtest import dvm

SOURCE = """
namespace ns {
template <class T> struct Class { [[gnu::noinline]] T method(T a, int b) { return a + b; } };
template <class T> [[gnu::noinline]] T twice(T a) { return a + a; }
[[gnu::noinline]] int scale(int a) { return a * 2; }
[[gnu::noinline]] double scale(double a, int b) { return a * b; }
struct Caller { [[gnu::noinline]] int operator()(int a) { return a; } };
}
int main() {
  volatile long sum = 0;
  for (int i = 0; i < 2; i++) sum += ns::Class<int>().method(i, 1);
  for (int i = 0; i < 3; i++) sum += ns::Class<long>().method(i, 1);
  for (int i = 0; i < 4; i++) sum += ns::twice<int>(i);
  for (int i = 0; i < 5; i++) sum += ns::scale(i);
  for (int i = 0; i < 6; i++) sum += static_cast<long>(ns::scale(1.5, i));
  for (int i = 0; i < 7; i++) sum += ns::Caller()(i);
}
"""


class QuotedNames(dvmtest.PrivilegedTest):
    def setUp(self):
        super().setUp()
        self.folder = dvmtest.own_folder(self)
        self.program = str(self.folder / "quoted")
        subprocess.run(["g++", "-O1", "-x", "c++", "-", "-o", self.program], input=SOURCE, text=True, check=True)

    def calls(self, function, name="entry"):
        result = dvm("run", "-q", "-n", f"pid$target:a.out:{function}:{name} {{ @ = count(); }}", "-c", self.program)
        self.assertEqual((result.returncode, result.stderr), (0, ""), function)
        return int(result.stdout)

    def test_each_form_means_its_functions(self):
        for function, calls in (('"ns::Class<int>::method"', 2), ('"ns::Class<*>::method"', 5), ('"ns::Class<long>::*"', 3),
                                ('"ns::twice<int>"', 4), ('"int ns::twice<int>"', 4), ('"ns::twice<int>(int)"', 4),
                                ('"ns::scale(int)"', 5), ('"ns::scale(double, int)"', 6), ('"ns::scale"', 11), ('ns"::"scale', 11),
                                ('"ns::Caller::operator()"', 7), ('"ns::Class<int>::method(int, int)"', 2)):
            self.assertEqual(self.calls(function), calls, function)
            self.assertEqual(self.calls(function, "return"), calls, function)

    def test_a_name_with_colons_but_no_quotes_gets_a_hint(self):
        for function in ("ns::scale", "ns::Class<int>::method"):
            result = dvm("run", "-n", f"pid$target:a.out:{function}:entry {{ }}", "-c", self.program)
            self.assertEqual(result.returncode, 1)
            self.assertIn('hint: a function with colons in its name is written in double quotes, as in "ns::f"\n', result.stderr)

    def test_a_replay_knows_every_name_that_the_recording_was_asked_by(self):
        recording = str(self.folder / "recording")
        recorded = dvm("record", "-o", recording, "-q", "-n", 'pid$target:a.out:"ns::scale(int)":entry { }', "-c", self.program)
        self.assertEqual(recorded.returncode, 0, recorded.stderr)
        for function in ("_ZN2ns5scaleEi", '"ns::scale"', '"ns::scale(int)"', '"ns::sc*"'):
            result = dvm("replay", recording, "-q", "-n", f"pid$target:a.out:{function}:entry {{ @ = count(); }}")
            self.assertEqual((result.returncode, result.stdout.split()), (0, ["5"]), (function, result.stderr))

    def test_a_function_may_be_named_in_several_ways_at_once(self):
        script = """pid$target:a.out:"ns::scale(int)":entry { @["args"] = count(); } pid$target:a.out:_ZN2ns5scaleEi:entry { @["symbol"] = count(); }
                    pid$target:a.out:"ns::scale":entry { @[probefunc] = count(); }"""
        result = dvm("run", "-q", "-n", script, "-c", self.program)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(dict(re.findall(r"(\S+) +(\d+)", result.stdout)), {"args": "5", "symbol": "5", "ns::scale": "11"})

    def test_options_and_list_take_them(self):
        listed = dvm("list", 'pid$target:a.out:"ns::Class<int>::method":entry', "-c", self.program)
        self.assertRegex(listed.stdout, r"quoted +ns::Class<int>::method entry\n")
        for option, text in (("-n", '"ns::scale(double, int)":entry'), ("-f", 'a.out:"ns::scale(double, int)"')):
            prefix = "pid$target:a.out:" if option == "-n" else "pid$target:"
            result = dvm("run", "-q", option, prefix + text + (" { @ = count(); }" if option == "-n" else "/probename == \"entry\"/ { @ = count(); }"),
                         "-c", self.program)
            self.assertEqual((result.returncode, result.stdout.split()), (0, ["6"]), result.stderr)

    def test_a_recording_is_matched_by_the_name_it_was_made_with(self):
        path = str(self.folder / "trace.dvm")
        script = 'pid$target:a.out:"ns::Class<int>::method":entry { @ = count(); }'
        self.assertEqual(dvm("record", "-q", "-o", path, "-n", script, "-c", self.program).returncode, 0)
        result = dvm("replay", "-q", path, "-n", script)
        self.assertEqual((result.returncode, result.stdout.split()), (0, ["2"]), result.stderr)

    def test_a_recording_is_printed_with_and_without_demangled_names(self):
        script = 'pid$target:a.out:"ns::scale(int)":entry { @[probefunc, ustack(1)] = count(); }'
        for recorded in ("on", "off"):
            path = str(self.folder / f"{recorded}.dvm")
            result = dvm("record", "-q", "-o", path, "-x", f"demangle={recorded}", "-n", script, "-c", self.program)
            self.assertEqual(result.returncode, 0, result.stderr)
            for shown, name, other in (("on", "ns::scale", "_ZN2ns5scale"), ("off", "_ZN2ns5scaleEi", "ns::")):
                for options in (["-n", script], ["--info"]):
                    output = dvm("replay", "-q", path, "-x", f"demangle={shown}", *options).stdout
                    self.assertIn(name, output, (recorded, shown))
                    self.assertNotIn(other, output, (recorded, shown))
                output = dvm("replay", "-q", path, "-x", f"demangle={shown}", "-n", script).stdout
                self.assertRegex(output, rf"(?m)^  {name} *\n +quoted`{name}")

    def test_the_account_has_the_names_that_are_printed(self):
        script = 'pid$target:a.out:"ns::scale(int)":entry { @ = count(); }'
        for shown, name in (("on", "ns::scale"), ("off", "_ZN2ns5scaleEi")):
            for form in ("--account", "--account=json"):
                result = dvm("run", "-q", form, "-x", f"demangle={shown}", "-n", script, "-c", self.program)
                self.assertIn(f":quoted:{name}:entry", result.stdout, result.stderr)
            page = self.folder / "page.html"
            dvm("run", "-q", "--html", str(page), "-x", f"demangle={shown}", "-n", script, "-c", self.program)
            self.assertIn(f":quoted:{name}:entry", page.read_text())

    def test_what_is_not_there_is_said_with_its_quotes(self):
        result = dvm("run", "-n", 'pid$target:a.out:"ns::Class<char>::*":entry { @ = count(); }', "-c", self.program)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r'probe description pid\d+:a.out:"ns::Class<char>::\*":entry does not match any probes')
        result = dvm("run", "-n", 'pid$target:a.out:"ns::scale:entry { @ = count(); }', "-c", self.program)
        self.assertEqual(result.returncode, 1)
        self.assertNotEqual(result.stderr, "")

    def test_a_listing_has_names_that_can_be_written(self):
        for command in (["list", "pid$target:a.out:*scale*:entry"], ["run", "-l", "-n", "pid$target:a.out:*scale*:entry"]):
            result = dvm(*command, "-c", self.program)
            self.assertEqual(re.findall(r"(?m)(\S+) entry$", result.stdout), ["ns::scale"] * 2, result.stderr)
        result = dvm("list", "-x", "demangle=off", "pid$target:a.out:*scale*:entry", "-c", self.program)
        self.assertEqual(set(re.findall(r"(?m)(\S+) entry$", result.stdout)), {"_ZN2ns5scaleEi", "_ZN2ns5scaleEdi"}, result.stderr)


RUST = """
mod shop {
    pub struct Basket<T> { pub items: Vec<T> }
    pub trait Put { fn put(&mut self, n: u64) -> u64; }
    impl Put for Basket<u64> {
        #[inline(never)]
        fn put(&mut self, n: u64) -> u64 { self.items.push(n); self.items.len() as u64 }
    }
    #[inline(never)]
    pub fn total(n: u64) -> u64 { unsafe { std::ptr::read_volatile(&(n + 1)) } }
}
use shop::Put;
fn main() {
    let mut basket = shop::Basket { items: vec![] };
    let mut sum = 0;
    for i in 0..5 { sum += basket.put(i) + shop::total(i); }
    std::process::exit((sum != 30) as i32);
}
"""


class Rust(dvmtest.PrivilegedTest):
    """A program of rustc, with both of its manglings."""

    def setUp(self):
        super().setUp()
        if not shutil.which("rustc"):
            dvmtest.skip_or_fail(self, "no rustc")
        self.folder = dvmtest.own_folder(self)

    def programs(self):
        (self.folder / "basket.rs").write_text(RUST)
        for name, options in (("legacy", []), ("v0", ["-C", "symbol-mangling-version=v0"])):
            path = str(self.folder / name)
            subprocess.run(["rustc", "-g", "-O", *options, "--crate-name", "basket", "-o", path, str(self.folder / "basket.rs")], check=True)
            yield path

    def test_from_the_listing_to_the_stack(self):
        script = """pid$target:a.out:"basket::shop::total":entry { @n[probefunc] = sum(arg0); @s[ustack(2)] = count(); }
                    pid$target:a.out:"*Basket<u64>*Put*put":entry { @n["put"] = sum(arg1); }
                    pid$target:a.out:"basket::shop::total":return { @n["return"] = sum(arg1); }"""
        for path in self.programs():
            listing = dvm("list", "pid$target:a.out:*shop*total*:entry", "-c", path)
            self.assertRegex(listing.stdout, r"(?m) basket::shop::total entry$", listing.stderr)
            result = dvm("run", "-q", "-n", script, "-c", path)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            sums = dict(re.findall(r"(?m)^ +(\S+) +(\d+)$", result.stdout))
            self.assertEqual(sums, {"basket::shop::total": "10", "put": "10", "return": "15"}, result.stdout)
            self.assertRegex(result.stdout, r"`basket::shop::total\n +\w+`basket::main\+0x")


if __name__ == "__main__":
    unittest.main()
