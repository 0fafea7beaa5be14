#!/usr/bin/env python3
"""Predictions at the rates of a live process, by dvm cost predict --sample and dvm run --predict."""

import json
import subprocess
import sys
import unittest

import dvmtest

PENTIUM = ("--profile", "pentium4-1700")
COUNT = "pid$target:a.out:func:entry { @ = count(); }"


class Live(dvmtest.PrivilegedTest):
    def setUp(self):
        super().setUp()
        self.looper = subprocess.Popen([dvmtest.program("looper"), "1000000000000"], stdout=subprocess.DEVNULL)
        self.pid = str(self.looper.pid)

    def tearDown(self):
        self.looper.kill()
        self.looper.wait()

    def predict(self, *args, sample="300ms"):
        result = dvmtest.dvm("cost", "predict", *PENTIUM, "--json", "-p", self.pid, "--sample", sample, *args)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_firings_are_counted(self):
        found = self.predict("-n", COUNT + " pid$target:a.out:main:entry { @b = count(); } tick-100ms { @c = count(); }", sample="1s")
        called, never, tick = found["probes"]
        self.assertEqual(called["probe"], f"pid{self.pid}:a.out:func:entry")
        self.assertGreater(called["rate"], 0)
        self.assertAlmostEqual(called["cpu_percent"], 100 * called["rate"] * 4533 / 1.7e9, 3)
        self.assertEqual(never["rate"], 0)
        self.assertAlmostEqual(tick["rate"], 10)
        self.assertEqual(found["counted_seconds"], 1)
        shares = found["shares"]
        self.assertAlmostEqual(shares["all"]["percent"], shares["probes"]["percent"] + shares["consumer"]["percent"], 6)
        self.assertAlmostEqual(shares["all"]["percent"], shares["all"]["user_percent"] + shares["all"]["system_percent"], 6)
        self.assertAlmostEqual(shares["probes"]["user_percent"], called["cpu_percent"], 3)

    def test_a_rate_that_was_given_is_not_counted(self):
        found = self.predict("-n", COUNT, "--rate", f"pid{self.pid}:a.out:func:entry=5")
        self.assertEqual(found["probes"][0]["rate"], 5)

    def test_predicates_are_measured(self):
        text = "pid$target:a.out:func:entry /arg0 %s 0/ { @ = count(); }"
        for condition, share in (("!=", 1), ("==", 0)):
            found = self.predict("--prob", "measured", "-n", text % condition)
            self.assertEqual(found["probes"][0]["clauses"][0]["probability"], share)

    def test_branches_are_measured(self):
        text = "pid$target:a.out:func:entry { @ = sum(arg0 %s 0 ? arg1 / (arg2 + 1) : 1); }"
        cheap, dear = ("==", "!=")
        def actions(condition, *how):
            return self.predict("-n", text % condition, *how)["probes"][0]["clauses"][0]["actions"]
        for condition, end in ((cheap, "cheapest"), (dear, "dearest")):
            half, measured = actions(condition), actions(condition, "--prob", "measured")
            self.assertEqual(measured["expected"], measured[end])
            self.assertEqual((measured["cheapest"], measured["dearest"]), (half["cheapest"], half["dearest"]))
            self.assertLess(half["cheapest"], half["expected"])
            self.assertLess(half["expected"], half["dearest"])

    def test_a_terminal_shows_that_it_waits(self):
        said, _ = dvmtest.errors_on_terminal(self, dvmtest.DVM, "cost", "predict", *PENTIUM, "-p", self.pid, "--sample", "4s", "-n", COUNT)
        self.assertIn("dvm: counting firings for 4 s (2 s)", said)
        self.assertIn("(3 s)", said)
        self.assertTrue(said.endswith("\r\033[K"), said)

    def test_what_destroys_is_not_run_to_measure_it(self):
        result = dvmtest.dvm("cost", "predict", *PENTIUM, "-p", self.pid, "--sample", "10ms", "--prob", "measured", "-n",
                             "#pragma D option destructive\n" + COUNT)
        self.assertEqual(result.returncode, 1)
        self.assertIn("destructive", result.stderr)

    def test_a_run_says_first_what_it_will_cost(self):
        result = dvmtest.dvm("run", "--predict", *PENTIUM, "--sample", "50ms", "-p", self.pid, "-n", "BEGIN { exit(3); } " + COUNT)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("firings were counted for 0.05 s", result.stderr)
        self.assertIn("% OF A CPU AT THESE RATES", result.stderr)
        self.assertNotIn("PREDICTION", result.stdout)


class Refused(unittest.TestCase):
    def test_bad_input(self):
        for args, said in ((("--sample", "2h"), "--sample 2h"), (("--sample", "0s"), "--sample 0s"), (("--sample", "x"), "--sample x"),
                           (("--sample", "1s", "-c", "true"), "use -p PID instead of -c"), (("--prob", "measured"), "needs --sample"),
                           (("--prob", "2"), "--prob 2")):
            result = dvmtest.dvm("cost", "predict", *PENTIUM, *args, "-n", "syscall::read:entry { @ = count(); }")
            self.assertEqual(result.returncode, 1, args)
            self.assertIn(said, result.stderr)

    def test_options_of_a_prediction_need_one(self):
        self.assertEqual(dvmtest.dvm("run", "--sample", "1s", "-n", "BEGIN { exit(0); }").returncode, 2)

    def test_a_run_without_counting(self):
        result = dvmtest.dvm("run", "--predict", *PENTIUM, "-n", "BEGIN { exit(0); }")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("PREDICTION", result.stderr)
        result = dvmtest.dvm("run", "--predict", "--profile", "nowhere.json", "-n", "BEGIN { exit(0); }")
        self.assertEqual(result.returncode, 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
