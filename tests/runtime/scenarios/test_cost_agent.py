"""Predictions of clauses that an agent runs, by a profile whose prices are round numbers."""

import json
import os
import subprocess
import tempfile
import unittest

import dvmtest

PROBE = "pid$target:a.out:func:entry"
NO_REASON = "a clause of the probe divides by 0, calls a subroutine, or accesses memory or an array"


def price(m, n=0):
    return {"m": m, "n": n, "spread": 0}


AGENT = {
    "stub": {"entry": price(4), "return": price(5), "usdt": price(3), "common": price(20)},
    "lane": {"find": price(2), "take": price(4), "record": price(9), "read": price(40), "update": price(25), "add": price(200)},
    "site": {"expression": price(1), "variables": price(2), "time": price(10), "name": price(200), "heap_string": price(30),
             "far_string": price(900), "fault": price(700)},
    "aggregation": {"count": price(1), "quantize": price(2)},
    "key": {"any": price(1), "integer": price(1), "string": price(8, 0.5)},
    "capture": {"thread": price(0)},
}
LOCAL = {"source": {"pid": {"trigger": price(1000)}, "pid_emulated": {"trigger": price(400)}, "pid_return": {"trigger": price(700)}}}


class CostAgent(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "agent.json")
        self.write({**LOCAL, "agent": AGENT})

    def write(self, prices):
        with open(self.path, "w") as file:
            json.dump({"dvm_profile": 1, "name": "round", "machine": "made up", "clock_hz": 1e9, "prices": prices}, file)

    def predict(self, text, *options, backend="agent", target=("-c", dvmtest.program("looper") + " 1")):
        return dvmtest.dvm("cost", "predict", "--profile", self.path, "-x", f"backend={backend}", *options, "-n", text,
                           *target)

    def probe(self, text, *options, **how):
        result = self.predict(text, "--json", *options, **how)
        self.assertEqual(result.returncode, 0, result.stderr)
        (probe,) = json.loads(result.stdout)["probes"]
        return probe

    def test_a_clause_in_the_thread(self):
        probe = self.probe(PROBE + " { @ = count(); }")
        self.assertEqual(probe["agent"], {"way": "site", "share": 1.0, "thread_ns": 7.0, "dvm_ns": 0.0})
        self.assertEqual(probe["firing_ns"], 4 + 2 + 1)
        self.assertEqual([clause["way"] for clause in probe["clauses"]], ["site"])

    def test_a_false_predicate_is_a_gate(self):
        probe = self.probe(PROBE + " /arg0 == 1/ { @ = count(); }", "--prob", "0")
        self.assertEqual(probe["agent"]["thread_ns"], 4 + 1)
        self.assertEqual(probe["firing"]["dearest"], 4 + 1 + 2 + 1 + 1)

    def test_a_string_may_lie_on_the_heap(self):
        text = PROBE + " { @[copyinstr(arg0)] = count(); }"
        probe = self.probe(text, "--strings", "20", "--heap", "0")
        self.assertAlmostEqual(probe["agent"]["thread_ns"], 4 + 6 + 1 + 1 + 8 + 0.5 * 20)
        some = self.probe(text, "--strings", "20")
        self.assertAlmostEqual(some["agent"]["thread_ns"], probe["agent"]["thread_ns"] + 15)
        self.assertAlmostEqual(some["firing"]["dearest"], probe["firing"]["dearest"])
        self.assertGreater(some["firing"]["dearest"], probe["agent"]["thread_ns"] + 900)
        self.assertIn("    a string key on the heap takes 30 ns more; assumed of 50 %, which --heap sets\n", self.predict(text).stdout)

    def test_the_heap_of_some_programs_is_read_by_system_calls(self):
        text = "pid$target:a.out:work:entry { @[copyinstr(arg0)] = count(); }"
        running = subprocess.Popen([dvmtest.program("snatched_own"), "own", "100000"], stdout=subprocess.PIPE)
        self.addCleanup(running.communicate)
        self.addCleanup(running.kill)
        target = ("-p", str(running.pid))
        none, all_of_it = (self.probe(text, "--heap", share, target=target)["agent"] for share in ("0", "1"))
        self.assertAlmostEqual(all_of_it["thread_ns"], none["thread_ns"] + 900)
        self.assertIn("snatched_own makes system call", all_of_it["by_calls"])
        self.assertRegex(self.predict(text, target=target).stdout,
                         r"(?m)^    a string key on the heap takes 900 ns more; .*\n    the heap is read by system calls: snatched_own makes ")
        self.assertNotIn("by_calls", self.probe("pid$target:a.out:work:entry { @ = count(); }", target=target)["agent"])

    def test_records_load_the_heap(self):
        captures = {**AGENT["capture"], "string": price(600, 2)}
        lane = {**AGENT["lane"], "heap_string": price(20, 0.5)}
        self.write({**LOCAL, "agent": {**AGENT, "capture": captures, "lane": lane}})
        text = PROBE + " { s[0] = copyinstr(arg0); }"
        none, half = (self.probe(text, "--strings", "20", "--heap", share)["firing"] for share in ("0", "0.5"))
        self.assertAlmostEqual(none["expected"] - half["expected"], 0.5 * (600 + 2 * 20 - 20 - 0.5 * 20))
        self.assertAlmostEqual(none["dearest"], half["dearest"])

    def test_a_string_that_cannot_be_read_is_a_record(self):
        text = PROBE + " { @[copyinstr(arg0)] = count(); }"
        readable, faults = (self.probe(text, "--heap", "0", "--faults", share)["agent"] for share in ("0", "0.5"))
        self.assertAlmostEqual(faults["thread_ns"] - readable["thread_ns"], 0.5 * 700)
        self.assertGreaterEqual(faults["dvm_ns"] - readable["dvm_ns"], 0.5 * 40)

    def test_keys_without_room_are_records(self):
        text = PROBE + " { @[arg0] = count(); }"
        few, many = (self.probe(text, "--keys", keys)["agent"] for keys in ("1000", "4096"))
        self.assertAlmostEqual(many["thread_ns"] - few["thread_ns"], 0.75 * 25)
        self.assertAlmostEqual(many["dvm_ns"] - few["dvm_ns"], 0.75 * (40 + 200))

    def test_a_clause_of_dvm_leaves_a_record(self):
        probe = self.probe(PROBE + " { n[0]++; }")
        self.assertEqual((probe["agent"]["way"], probe["agent"]["reason"]), ("record", NO_REASON))
        self.assertEqual(probe["agent"]["thread_ns"], 4 + 6 + 9)
        self.assertGreaterEqual(probe["agent"]["dvm_ns"], 40)
        self.assertAlmostEqual(probe["firing_ns"], probe["agent"]["thread_ns"] + probe["agent"]["dvm_ns"])

    def test_the_table_says_where_clauses_run(self):
        said = self.predict(PROBE + " { n[0]++; }").stdout
        self.assertRegex(said, r"(?m)^    source agent, by a record +19 +19 +19$")
        self.assertRegex(said, r"(?m)^      in the traced thread +19\.0 ns +\+- 0\.0$")
        self.assertRegex(said, r"(?m)^      in dvm +4\d\.\d ns ")
        self.assertIn(f"    clauses run in dvm: {NO_REASON}\n", said)
        said = self.predict(PROBE + " { @ = count(); }").stdout
        self.assertRegex(said, r"(?m)^    source agent, in the thread ")
        self.assertNotIn("clauses run in dvm", said)
        self.assertNotIn("is translated after", said)

    def test_other_backends_are_priced_as_ever(self):
        probe = self.probe(PROBE + " { @ = count(); }", backend="uprobe")
        self.assertNotIn("agent", probe)
        self.assertGreaterEqual(probe["firing_ns"], 400)

    def test_a_profile_of_an_earlier_version(self):
        self.write(LOCAL)
        result = self.predict(PROBE + " { @ = count(); }")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertIn("profile round has no prices of the backend agent\n    hint: 'dvm cost calibrate'", result.stderr)
        self.assertNotIn("agent", self.probe(PROBE + " { @ = count(); }", backend="uprobe"))

    def test_a_row_without_a_price_is_named(self):
        rest = {name: rows for name, rows in AGENT.items() if name != "aggregation"}
        self.write({**LOCAL, "agent": rest})
        result = self.predict(PROBE + " { @ = count(); }")
        self.assertRegex(result.stdout, r"(?m)^    agent/aggregation/count$")

    def test_simulated(self):
        result = dvmtest.dvm("simulate", "--profile", self.path, "--json", "-x", "backend=agent", "--rate", "1000", "-n",
                             PROBE + " { @ = count(); }", "-c", dvmtest.program("looper") + " 1")
        self.assertEqual(result.returncode, 0, result.stderr)
        firing = json.loads(result.stdout)["firing"]
        self.assertAlmostEqual(firing["thread_ns"], 7)
        self.assertAlmostEqual(firing["dvm_ns"], 0)
        self.assertEqual(firing["ring_bytes"], 0)

    def test_rows_that_nothing_measures(self):
        for only in ("nothing", "agen", "agent/stubs"):
            result = dvmtest.dvm("cost", "calibrate", "--only", only, "-o", self.path)
            self.assertEqual(result.returncode, 1)
            self.assertIn(f"--only {only}: no row that is measured", result.stderr)

    def test_prices_of_two_machines_are_not_mixed(self):
        result = dvmtest.dvm("cost", "calibrate", "--only", "agent", "-o", self.path)
        self.assertEqual(result.returncode, 1)
        self.assertIn("profile round were measured on another machine", result.stderr)


if __name__ == "__main__":
    unittest.main()
