"""Records as trace events: --trace-events FILE."""

import json
import mmap
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import dvmtest
from dvmtest import DVM, ENV, dvm, program

LOOPER = "pid$target:looper"
PAIRS = f"{LOOPER}:main:entry, {LOOPER}:func:entry {{ printf(\"in %s\", probefunc); }} {LOOPER}:main:return, {LOOPER}:func:return {{ }}"


class TraceEvents(dvmtest.PrivilegedTest):
    def setUp(self):
        super().setUp()
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.path = pathlib.Path(holder.name) / "events.json"

    def events(self, *words, status=0):
        """All events but those that name threads; these are returned too, by (pid, tid)."""
        result = dvm("run", "-q", "--trace-events", str(self.path), *words)
        self.assertEqual(result.returncode, status, result.stderr)
        self.output = result.stdout
        everything = json.loads(self.path.read_text())
        for one in everything:
            self.check_form(one)
        self.processes = {one["pid"]: one["args"]["name"] for one in everything if one["name"] == "process_name"}
        self.names = {(one["pid"], one["tid"]): one["args"]["name"] for one in everything if one["name"] == "thread_name"}
        return [one for one in everything if one["ph"] != "M"]

    def check_form(self, event):
        """What the definition of the Trace Event Format asks of an event, and no further field."""
        fields = {"M": {"ph", "name", "pid", "tid", "args"}, "B": {"ph", "name", "cat", "ts", "pid", "tid", "args"}}
        fields["E"], fields["i"] = fields["B"], fields["B"] | {"s"}
        self.assertIn(event["ph"], fields)
        self.assertLessEqual(set(event), fields[event["ph"]])
        self.assertLessEqual(fields[event["ph"]] - {"args"}, set(event))
        self.assertEqual((type(event["name"]), type(event["pid"]), type(event["tid"])), (str, int, int))
        if event["ph"] == "M":
            self.assertIn(event["name"], ("process_name", "thread_name"))
            self.assertEqual(list(event["args"]), ["name"])
        else:
            self.assertIn(type(event["ts"]), (int, float))
        self.assertIn(event.get("s", "t"), ("g", "p", "t"))

    def test_the_first_thread_names_the_process(self):
        events = self.events("-n", "pid$target:a.out:*work*:entry { } pid$target:a.out:main:return { }", "-c", program("threads") + " 3 20")
        self.assertEqual(set(self.processes.values()), {"threads"})
        self.assertGreater(len(self.names), 1)
        self.assertEqual(len({one["pid"] for one in events}), 1)

    def test_entries_and_returns_are_slices(self):
        events = self.events("-n", PAIRS, "-c", program("looper") + " 3")
        self.assertEqual([(one["ph"], one["name"]) for one in events],
                         [("B", "main")] + [("B", "func"), ("E", "func")] * 3 + [("E", "main")])
        times = [one["ts"] for one in events]
        self.assertEqual(times, sorted(times))
        self.assertLess(times[0], times[-1])
        self.assertEqual({one["cat"] for one in events}, {f"pid{events[0]['pid']}"})
        self.assertEqual(events[1]["args"]["text"], "in func")
        self.assertNotIn("args", events[2])
        self.assertEqual(self.names, {(events[0]["pid"], events[0]["pid"]): "looper"})

    def test_the_output_is_as_without(self):
        with_events = self.events("-n", PAIRS, "-c", program("looper") + " 3") and self.output
        self.assertEqual([line for line in with_events.splitlines() if "in func" in line], ["in mainin funcin funcin func"])

    def test_records_of_json_have_no_further_actions(self):
        self.events("--json", "-n", 'BEGIN { printf("x"); exit(0); }')
        record = json.loads(self.output.splitlines()[0])
        self.assertEqual([action["action"] for action in record["actions"]], ["printf"])
        self.assertGreater(record["time"], 0)

    def test_clauses_on_one_probe_are_one_event(self):
        events = self.events("-n", f"{LOOPER}:func:entry {{ trace(1); }} {LOOPER}:func:entry {{ printf(\" two\"); }}",
                             "-c", program("looper") + " 2")
        self.assertEqual([(one["name"], one["args"]["text"]) for one in events], [("func:entry", "1 two")] * 2)

    def test_other_probes_are_marks_with_what_was_printed(self):
        events = self.events("-n", r'BEGIN { printf("a \"quote\" \\ \200\n"); } END { } tick-1ms { exit(3); }', status=3)
        self.assertEqual([(one["ph"], one["s"], one["name"]) for one in events],
                         [("i", "t", "BEGIN"), ("i", "t", "tick-1ms"), ("i", "t", "END")])
        self.assertEqual(events[0]["args"]["text"], 'a "quote" \\ \ufffd\n')

    def test_a_return_without_its_entry_is_a_mark(self):
        events = self.events("-n", f"{LOOPER}:func:return {{ }}", "-c", program("looper") + " 1")
        self.assertEqual([(one["ph"], one["name"]) for one in events], [("i", "func:return")])

    def test_entries_whose_returns_leave_no_record_are_marks(self):
        for clause in ("", f"{LOOPER}:func:return {{ @ = count(); }}"):
            events = self.events("-n", f"{LOOPER}:func:entry {{ }} {clause}", "-c", program("looper") + " 3")
            self.assertEqual([(one["ph"], one["name"]) for one in events], [("i", "func:entry")] * 3)

    def test_lost_returns_are_closed_with_their_callers(self):
        script = f"{LOOPER}:main:entry, {LOOPER}:func:entry {{ }} {LOOPER}:func:return /++seen != 2/ {{ }} {LOOPER}:main:return {{ }}"
        events = self.events("-n", script, "-c", program("looper") + " 2")
        self.assertEqual("".join(one["ph"] for one in events), "BBEBEE")
        self.assertEqual([one["name"] for one in events][-2:], ["func", "main"])

    def test_a_system_call_ends_at_the_next(self):
        """rt_sigreturn has no return."""
        signals = "import os, signal; signal.signal(10, lambda *_: 0); [os.kill(os.getpid(), 10) for _ in range(3)]"
        probes = "syscall::rt_sigreturn:entry, syscall::kill:entry, syscall::rt_sigreturn:return, syscall::kill:return"
        events = self.events("-n", probes + " /pid == $target/ { }", "-c", f"{sys.executable} -c '{signals}'")
        self.assertEqual("".join(one["ph"] for one in events if one["name"] == "kill"), "BE" * 3)
        text = "".join(one["ph"] for one in events)
        self.assertEqual(text, "BE" * (len(text) // 2) + "B")  # none lies in another
        self.assertEqual([one["name"] for one in events].count("rt_sigreturn"), 5)

    def test_each_thread_has_a_track(self):
        events = self.events("-n", "pid$target:a.out:*work*:entry, pid$target:a.out:*work*:return { }", "-c", program("threads") + " 3 20")
        tracks = {}
        for one in events:
            tracks.setdefault(one["tid"], []).append(one["ph"])
        self.assertGreaterEqual(len(tracks), 3)
        for phases in tracks.values():  # each closes what it opens
            self.assertEqual(phases.count("B"), phases.count("E"))

    def test_a_killed_dvm_leaves_whole_events(self):
        for printed, size in (("%1000d", 100000), ("%d", 1)):
            self.path.unlink(missing_ok=True)
            command = [DVM, "run", "-q", "--trace-events", str(self.path), "-n", f'tick-1ms {{ printf("{printed}", 1); }}']
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=ENV) as tracer:
                while not (self.path.exists() and self.path.stat().st_size > size and self.path.read_text().count('"name":"tick-1ms"') > 1):
                    time.sleep(0.05)
                tracer.send_signal(signal.SIGKILL)
            # What the manual says for other programs.
            closed = subprocess.run(["sh", "-c", "sed '$d' \"$1\" | sed '$s/,$/]/'", "sh", str(self.path)], check=True,
                                    stdout=subprocess.PIPE, text=True)
            events = json.loads(closed.stdout)
            self.assertIn("tick-1ms", [one["name"] for one in events])
            text = self.path.read_text()
            if len(text) % mmap.PAGESIZE:  # else the kernel may have ended a write early, between two pages
                self.assertEqual(json.loads(text + "]")[:-1], events)

    def test_recursion_deeper_than_viewers_draw_is_marked(self):
        events = self.events("-x", "bufsize=16m", "-n", "pid$target:a.out:deep:entry, pid$target:a.out:deep:return { }", "-c", program("returns"))
        phases = "".join(one["ph"] for one in events)
        marks = phases.count("i")
        self.assertRegex(phases, "^B{1000}i+E{1000}$")
        self.assertGreater(marks, 10000)
        names = [one["name"] for one in events if one["ph"] == "i"]
        self.assertEqual(names, ["deep:entry"] * (marks // 2) + ["deep:return"] * (marks // 2))

    def test_bad_input(self):
        script = ["-n", "BEGIN { exit(0); }"]
        for path, message in (("/nosuch/events.json", "failed to open /nosuch/events.json: No such file or directory"),
                              ("/", "failed to open /: Is a directory")):
            result = dvm("run", "--trace-events", path, *script)
            self.assertEqual((result.returncode, result.stderr), (1, f"dvm: {message}\n"))
        result = dvm("run", "-q", "--trace-events", "/dev/full", *script)
        self.assertEqual((result.returncode, result.stderr), (1, "dvm: could not write /dev/full: No space left on device\n"))

    def test_a_run_that_never_traces_leaves_no_file(self):
        for words in (["-n", "BEGIN { nosuch(); }"], ["-n", "BEGIN { }", "-c", "/nosuch"]):
            result = dvm("run", "--trace-events", str(self.path), *words)
            self.assertEqual(result.returncode, 1)
            self.assertFalse(self.path.exists(), words)
        self.path.write_text("kept")
        dvm("run", "--trace-events", str(self.path), "-n", "BEGIN { nosuch(); }")
        self.assertEqual(self.path.read_text(), "kept")


if __name__ == "__main__":
    unittest.main()
