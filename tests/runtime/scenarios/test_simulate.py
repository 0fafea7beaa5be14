#!/usr/bin/env python3
"""dvm simulate: how the cost of a script grows, on paper. Nothing is traced."""

import json
import os
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import dvmtest

COUNT = "pid$target:a.out:func:entry { @[arg0] = count(); }"
PRICES = {"opcode": {"ldgs": {"m": 0}}, "aggregation": {"count": {"m": 10}}, "prepare": {"machine": {"m": 5}, "ecb": {"m": 5}},
          "source": {"pid": {"trigger": {"m": 1000}, "handler": {"m": 100}}},
          "consumer": {"context_switch": {"m": 1000}, "aggregation_build": {"m": 0, "n": 50}}}


def simulate(*args):
    return dvmtest.dvm("simulate", *args)


class Simulate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.profile = os.path.join(self.folder.name, "p.json")
        with open(self.profile, "w") as file:
            json.dump({"dvm_profile": 1, "name": "x", "machine": "y", "clock_hz": 1e9, "prices": PRICES}, file)

    def of(self, *args, program=COUNT):
        result = simulate("--profile", self.profile, "--json", "-n", program, *args)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_shares_follow_from_the_prices(self):
        found = self.of("--rate", "10000", "--threads", "3", "--cpus", "8")
        self.assertEqual(found["firing"]["thread_ns"], 1000)
        self.assertEqual(found["firing"]["dvm_ns"], 120)
        self.assertAlmostEqual(found["given"]["threads_percent"], 3, 4)
        self.assertAlmostEqual(found["given"]["dvm_percent"], 100 * 30000 * 120e-9, 2)
        self.assertIsNone(found["given"]["first_drop_seconds"])

    def test_it_grows_with_rate_threads_and_keys(self):
        sweeps = self.of("--rate", "5000", "--cpus", "4")["sweeps"]
        self.assertEqual(set(sweeps), {"rate", "threads", "cpus", "keys"})
        for name, of in (("rate", "threads_percent"), ("threads", "threads_percent"), ("keys", "consumer_percent")):
            shares = [point[of] for point in sweeps[name]]
            self.assertEqual(shares, sorted(shares), name)
            self.assertLess(shares[0], shares[-1], name)

    def test_drops_begin_where_a_buffer_is_too_small(self):
        many = ("--rate", "900000", "--keys", "100000", "--cpus", "4")
        self.assertEqual(self.of(*many)["given"]["key_drops"], 0)
        self.assertGreater(self.of(*many, "-x", "aggsize=1k")["given"]["key_drops"], 0)
        burst = self.of("--rate", "900000", "--ring", "4096", "--cpus", "4")
        self.assertGreater(burst["given"]["ring_drops"], 0)
        self.assertGreater(burst["first_drop_rate"], 0)
        self.assertLess(burst["first_drop_rate"], 900000)
        record = self.of("--rate", "900000", "--cpus", "4", "-x", "bufsize=1k", program="pid$target:a.out:func:entry { trace(arg0); }")
        self.assertGreater(record["given"]["record_drops"], 0)

    def test_a_kernels_vm_has_no_ring(self):
        result = simulate("--profile", "pentium4-1700", "--json", "-n", COUNT, "--rate", "44717")
        found = json.loads(result.stdout)
        self.assertEqual(found["firing"]["ring_bytes"], 0)
        self.assertEqual(found["firing"]["dvm_ns"], 0)

    def test_for_people(self):
        path = os.path.join(self.folder.name, "x.svg")
        result = simulate("--profile", self.profile, "-n", COUNT, "--svg", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        for text in ("SIMULATION", "dropped", "FIRED/S", "keys", "without a price"):
            self.assertIn(text, result.stdout)
        root = xml.etree.ElementTree.parse(path).getroot()
        self.assertEqual(len([e for e in root if e.tag.endswith("polyline")]), 3)

    def test_bad_input(self):
        for args in (("--rate", "-1"), ("--threads", "0"), ("--cpus", "x"), ("--seconds", "1e9")):
            self.assertEqual(simulate("--profile", self.profile, "-n", COUNT, *args).returncode, 2, args)
        result = simulate("--profile", self.profile, "-n", "BEGIN { trace(1); }")
        self.assertEqual(result.returncode, 1)
        self.assertIn("no probe that a thread fires", result.stderr)
        self.assertEqual(simulate("--profile", "nowhere.json", "-n", COUNT).returncode, 1)
        self.assertEqual(simulate("--profile", self.profile, "-n", COUNT, "--svg", "/nowhere/x.svg").returncode, 1)
        self.assertEqual(simulate("--profile", self.profile, "-n", "pid$target::f:entry { nothing(); }").returncode, 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
