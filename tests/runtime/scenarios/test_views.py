"""Views of results: dvm merge, dvm flame, and --folded and --flame of a run."""

import json
import pathlib
import re
import subprocess
import unittest
import xml.etree.ElementTree as xml

import dvmtest
from dvmtest import dvm, program
from scenarios.test_json import SCHEMA, problem

ALL_FUNCTIONS = """
  @count["x", {0}] = count();     @all["both"] = count();
  @sum["both"] = sum({0});        @min["both"] = min({0});        @max["both"] = max({0});
  @avg["both"] = avg({0});        @stddev["both"] = stddev({0});  @quantize["both"] = quantize({0});
  @lquantize["both"] = lquantize({0}, -100, 100, 7);
  @llquantize["both"] = llquantize({0}, 10, 0, 6, 20);
  @scaled["both"] = sum({0});
"""
VALUES = ((-5, 7, 1000000007), (12, -99, 3, 2147483646))


class Files(dvmtest.FolderTest):
    def ran(self, *words, status=0):
        result = dvm(*words)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stdout


class Merge(Files):
    def results(self, name, values):
        body = "".join(ALL_FUNCTIONS.format(value) for value in values)
        return self.write(name, self.ran("run", "-q", "--json", "-n", f"BEGIN {{ {body} normalize(@scaled, 3); exit(0); }}"))

    def test_all_functions_are_as_in_one_run(self):
        parts = [self.results(f"{i}.json", values) for i, values in enumerate(VALUES)]
        whole = self.results("whole.json", VALUES[0] + VALUES[1])
        merged = [json.loads(line) for line in self.ran("merge", *parts).splitlines()]
        expected = [json.loads(line) for line in pathlib.Path(whole).read_text().splitlines()]
        expected = [line for line in expected if line["type"] in ("aggregation", "exit")]
        self.assertEqual(len(expected), 12)
        self.assertEqual(merged, expected)
        for line in merged:
            self.assertIsNone(problem(line, SCHEMA), line)

    def test_keys_that_are_not_utf8_stay_apart(self):
        script = r'BEGIN { @["a\376", 1] = sum(3); @["a\377", 1] = sum(5); @["a\376", 1] = sum(4); exit(0); }'
        path = self.write("bytes.json", self.ran("run", "-q", "--json", "-n", script))
        merged = json.loads(self.ran("merge", path, path).splitlines()[0])
        self.assertEqual(merged["rows"], [{"keys": [{"text": "a\ufffd", "bytes": "61ff"}, 1], "values": [10]},
                                          {"keys": [{"text": "a\ufffd", "bytes": "61fe"}, 1], "values": [14]}])
        self.assertIsNone(problem(merged, SCHEMA), merged)

    def test_what_was_merged_can_be_merged_again(self):
        parts = [self.results(f"{i}.json", values) for i, values in enumerate(VALUES)]
        once = self.write("once.json", self.ran("merge", parts[0]))
        self.assertEqual(self.ran("merge", once, parts[1]), self.ran("merge", *parts))

    def test_a_terminal_shows_that_it_waits(self):
        path = self.write("a.json", self.ran("merge", self.results("b.json", VALUES[0])))
        said, merged = dvmtest.errors_on_terminal(self, "sh", "-c", f'(sleep 3; cat {path}) | "$0" merge -', dvmtest.DVM, stdout=subprocess.PIPE)
        self.assertEqual(merged.stdout, self.ran("merge", path))
        self.assertTrue(said.startswith("\r\033[Kdvm: reading standard input (2 s)"), said)
        self.assertTrue(said.endswith("\r\033[K"), said)

    def test_losses_and_cut_files_are_told(self):
        text = pathlib.Path(self.results("a.json", VALUES[0])).read_text()
        drop = '{"type":"drop","kind":"principal","cpu":0,"count":5,"message":"5 drops on CPU 0"}\n'
        cut = self.write("cut.json", drop + "".join(line for line in text.splitlines(True) if '"exit"' not in line))
        result = dvm("merge", cut)
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr, f"dvm: {cut} has no last line: the run was killed, or its file was cut\n")
        self.assertEqual(json.loads(result.stdout.splitlines()[0]), {**json.loads(drop), "run": cut})

    def test_runs_that_share_a_file_are_told(self):
        once = self.results("a.json", VALUES[0])
        twice = self.write("twice.json", 2 * pathlib.Path(once).read_text())
        result = dvm("merge", twice)
        self.assertEqual(result.stderr, f"dvm: {twice} holds 2 runs, which are added up: -o appends to a file\n")
        self.assertEqual(result.stdout, self.ran("merge", once, once))

    def test_keys_of_other_types_are_refused(self):
        line = '{"type":"aggregation","aggregations":[{"name":"x","function":"count","normal":1}],"rows":[{"keys":%s,"values":[1]}]}\n'
        first = self.write("first.json", line % '["a",1]')
        for keys, problem in (('["a"]', "@x has 1 keys here and 2 in a row before"), ('[1,1]', "key 1 of @x is an integer here and a string in a row before"),
                              ('["a","1"]', "key 2 of @x is a string here and an integer in a row before")):
            other = self.write("other.json", line % keys)
            result = dvm("merge", first, other)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertEqual(result.stderr.splitlines()[-1], f"dvm: {other}:1: {problem}")
        self.assertEqual(dvm("merge", first, self.write("other.json", line % '[{"bytes":"ff"},1]')).returncode, 0)

    def test_what_cannot_be_merged_is_refused(self):
        for text, message in (("", "is empty: this is not output of dvm run --json"), ("CPU ID\n", ":1: this is not a line of dvm run --json")):
            path = self.write("bad.json", text)
            result = dvm("merge", path)
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            self.assertTrue(result.stderr.startswith(f"dvm: {path}{'' if message[0] == ':' else ' '}{message}"), result.stderr)
        for command in ("merge", "flame", "page"):
            result = dvm(command, str(self.folder))
            self.assertEqual((result.returncode, result.stderr), (1, f"dvm: failed to open {self.folder}: Is a directory\n"))
        result = dvm("merge", str(self.folder / "nosuch"))
        self.assertEqual((result.returncode, result.stderr), (1, f"dvm: failed to open {self.folder}/nosuch: No such file or directory\n"))


class Flame(Files, dvmtest.PrivilegedTest):
    SCRIPT = "pid$target:looper:func:entry { @[ustack()] = count(); @names[probefunc] = count(); }"

    def trace(self, *options):
        return self.ran("run", "-q", *options, "-n", self.SCRIPT, "-c", program("looper") + " 10")

    def boxes(self, path):
        root = xml.parse(path).getroot()
        titles = [group.find("{*}title").text for group in root.iter("{http://www.w3.org/2000/svg}g") if group.get("class")]
        return [re.sub(r" \([^(]*\)$", "", title.splitlines()[0]) for title in titles]

    def test_folded_stacks_stand_in_place_of_their_table(self):
        output = self.trace("--folded")
        self.assertRegex(output, r"(?m)^(?:\S+;)+main;func 10$")
        self.assertRegex(output, r"(?m)^ +func +10$")
        self.assertNotIn("looper`func", output)

    def test_the_drawing_is_made_beside_the_table(self):
        output = self.trace("--flame", str(self.folder / "a.svg"))
        self.assertIn("looper`func", output)
        boxes = self.boxes(self.folder / "a.svg")
        self.assertEqual(boxes[0], "all")
        self.assertEqual(boxes[-2:], ["main", "func"])

    def inlined(self, *options):
        script = "pid$target:inlined:outer: /probename != \"entry\" && probename != \"return\"/ { @[ustack()] = count(); }"
        return self.ran("run", "-q", *options, "-n", script, "-c", program("inlined") + " 1")

    def test_inlined_functions_are_frames(self):
        stacks = [line.rsplit(" ", 1)[0].split(";") for line in self.inlined("--folded").splitlines()]
        self.assertIn(["main", "outer", "middle", "innermost"], [stack[-4:] for stack in stacks])
        self.inlined("--flame", str(self.folder / "a.svg"))
        self.assertEqual([name for name in self.boxes(self.folder / "a.svg") if name in ("outer", "middle", "innermost")],
                         ["outer", "middle", "innermost"])
        text = (self.folder / "a.svg").read_text()
        self.assertIn("green: inlined", text)
        self.assertRegex(text, r"<title>innermost \([^<]*inlined.c:\d+")

    def test_lines_of_source_in_json(self):
        lines = [json.loads(line) for line in self.inlined("--json", "--lines").splitlines()]
        for line in lines:
            self.assertIsNone(problem(line, SCHEMA), line)
        source = pathlib.Path(dvmtest.ROOT, "tests/programs/inlined.c").read_text().splitlines()
        found = set()
        for row in lines[0]["rows"]:
            for frame in row["keys"][0]["frames"]:
                for one in [frame, *frame.get("inlined", [])]:
                    if one.get("file", "").endswith("inlined.c"):
                        found.add((one["function"], source[one["line"] - 1].strip()))
        self.assertIn(("main", "for (unsigned long i = 0; i < rounds; i++) outer(i);"), found)
        self.assertIn(("innermost", "total += n * n; /* the line of innermost */"), found)
        self.assertNotIn('"file"', self.inlined("--json"))

    def test_time_off_the_cpu_is_blue_and_the_kernel_violet(self):
        script = """sched:::off-cpu /pid == $target/ { self->t = timestamp; }
                    sched:::on-cpu /self->t/ { @[stack(), ustack()] = sum(timestamp - self->t); self->t = 0; }"""
        path = self.folder / "a.svg"
        self.ran("run", "-q", "--flame", str(path), "--off-cpu", "--unit", "ns", "-n", script, "-c", "/bin/sleep 0.1")
        text = path.read_text()
        self.assertRegex(text, r"\d ns; violet: kernel")
        total = int(re.search(r"<title>all \((\d+) ns", text)[1])
        self.assertGreater(total, 90000000)
        colours = [tuple(map(int, found)) for found in re.findall(r'<rect x=[^>]*fill="rgb\((\d+),(\d+),(\d+)\)"', text)]
        self.assertTrue(all(blue >= red for red, _, blue in colours), colours)
        # The program has gone when its stack is unwound, and only the other clause names it.
        self.assertRegex(text, r"<title>(main|_start|__libc_start\w*|sleep\+0x\w+) ")

    def test_other_programs_read_folded_stacks(self):
        """Each line is what the documentation of inferno and of speedscope asks for: frames between semicolons, a space, digits."""
        for line in self.inlined("--folded").strip().splitlines():
            self.assertRegex(line, r"^[^;]+(;[^;]+)* [1-9]\d*$")

    def test_each_of_several_aggregations_has_a_drawing(self):
        script = self.SCRIPT + "pid$target:looper:func:entry { @other[ustack(1)] = sum(3); }"
        self.ran("run", "-q", "--flame", str(self.folder / "a.svg"), "-n", script, "-c", program("looper") + " 10")
        self.assertEqual(self.boxes(self.folder / "a-other.svg"), ["all", "func"])
        self.assertIn("main", self.boxes(self.folder / "a-anonymous.svg"))

    def test_results_in_a_file_are_drawn_later(self):
        results = str(self.folder / "a.json")
        self.trace("--json", "-o", results)
        self.assertRegex(self.ran("flame", "--folded", results), r"^(?:\S+;)+main;func 10\n$")
        self.ran("flame", results, "-o", str(self.folder / "a.svg"))
        self.assertEqual(self.boxes(self.folder / "a.svg")[-1], "func")
        difference = self.ran("flame", results, "--before", results, "--unit", "calls")
        self.assertIn("func (10 calls, 100.00 %; +0.00 %)", difference)

    def test_a_file_that_cannot_be_written_is_an_error(self):
        results = str(self.folder / "a.json")
        self.trace("--json", "-o", results)
        for path, reason in (("/dev/full", "could not write /dev/full: No space left on device"),
                             ("/nosuch/a.svg", "failed to open /nosuch/a.svg: No such file or directory")):
            result = dvm("flame", results, "-o", path)
            self.assertEqual((result.returncode, result.stderr), (1, f"dvm: {reason}\n"))
        self.assertTrue(pathlib.Path("/dev/full").exists())

    def test_a_drawing_that_cannot_be_written_is_an_error_before_the_run(self):
        for option in ("--flame", "--html"):
            for path, reason in (("/nosuch/a", "No such file or directory"), (str(self.folder), "Is a directory"), ("/dev/null/a", "Not a directory")):
                result = dvm("run", "-q", option, path, "-n", 'BEGIN { @[ustack()] = count(); printf("ran"); exit(0); }')
                self.assertEqual((result.returncode, result.stdout, result.stderr), (1, "", f"dvm: failed to open {path}: {reason}\n"))

    def test_a_recording_is_drawn_and_exported(self):
        script = "pid$target:looper:func:entry { @[ustack()] = count(); trace(1); }"
        recording, page, drawing, events = (str(self.folder / name) for name in ("a.dvm", "a.html", "a.svg", "a.json"))
        self.ran("record", "-q", "-o", recording, "-n", script, "-c", f"{program('looper')} 3")
        replayed = self.ran("replay", "-q", recording, "-n", script, "--html", page, "--flame", drawing, "--trace-events", events)
        self.assertRegex(replayed, r"looper`func(?s:.*)\s3\s")
        self.assertIn('"func"', re.sub(r"\w+`func\b", '"func"', pathlib.Path(page).read_text()))
        self.assertIn("func (3 samples", pathlib.Path(drawing).read_text())
        self.assertEqual(sum(event.get("ph") != "M" for event in json.loads(pathlib.Path(events).read_text())), 3)
        self.assertIn(";func 3\n", self.ran("replay", "-q", recording, "-n", script, "--folded"))

    def test_a_drawing_that_fails_does_not_keep_others_from_it(self):
        path = self.folder / "a.svg"
        script = "BEGIN { @bad[1, stack()] = sum(-3); @good[1, stack()] = sum(5); @good[2, stack()] = sum(-1); exit(0); }"
        result = dvm("run", "-q", "--flame", str(path), "-n", script)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "dvm: 1 stack of @bad is left out: the value is below 0\ndvm: 1 stack of @good is left out: the value is below 0\n"
                                        "dvm: @bad: no stack has a weight above 0\n")
        self.assertEqual(self.boxes(self.folder / "a-good.svg"), ["all", "1"])

    def test_no_stack_is_an_error(self):
        result = dvm("run", "--json", "--folded", "-n", "BEGIN { exit(0); }")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertEqual(result.stderr.splitlines()[0], "dvm: options --json and --folded exclude each other")
        result = dvm("run", "-q", "--folded", "-n", "BEGIN { @ = count(); exit(0); }")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr, "dvm: no aggregation has a stack as a key: nothing to draw\n")
        result = dvm("run", "-q", "--folded", "-n", "BEGIN /$target != 0/ { @[ustack()] = count(); } BEGIN { trace(1); exit(0); }")
        self.assertEqual((result.returncode, result.stdout), (1, "1\n"))
        self.assertEqual(result.stderr, "dvm: every aggregation with a stack as a key is empty: nothing to draw\n")
        result = dvm("run", "-q", "--folded", "-n", 'BEGIN { @[ustack()] = count(); printa("%@d", @); exit(0); }')
        self.assertEqual((result.returncode, result.stdout), (1, "1\n"))
        self.assertEqual(result.stderr, "dvm: printa() has printed every aggregation with a stack as a key: nothing is left to draw\n")


if __name__ == "__main__":
    unittest.main()
