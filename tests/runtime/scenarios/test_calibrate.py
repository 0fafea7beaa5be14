#!/usr/bin/env python3
"""Prices of this machine: measured, then compared with live scripts."""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest

import dvmtest


class Calibrate(unittest.TestCase):
    def test_it_says_how_long_it_takes_and_how_far_it_is(self):
        """Also where standard error is no terminal, such as in a log."""
        with subprocess.Popen([dvmtest.DVM, "cost", "calibrate", "-o", "/dev/null"], stderr=subprocess.PIPE, text=True, env=dvmtest.ENV,
                              start_new_session=True) as calibration:
            try:
                self.assertEqual(calibration.stderr.readline(), "dvm: calibrating takes a minute and a half\n")
                is_progress = re.compile(r"dvm: calibrating, pass \d, .+: \d+ of \d+\n").fullmatch
                self.assertTrue(any(is_progress(line) for line in calibration.stderr))
            finally:
                os.killpg(calibration.pid, signal.SIGKILL)

    def test_a_profile_of_this_machine_prices_a_script(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "here.json")
            result = dvmtest.dvm("cost", "calibrate", "--quick", "-o", path, timeout=600)
            self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)
            with open(path) as file:
                profile = json.load(file)
            self.assertGreater(profile["clock_hz"], 1e8)
            self.assertEqual(set(profile["made_on"]), {"cpu", "kernel", "dvm", "build"})
            self.assertEqual(set(profile["quiet_core"]), {"near", "far"})
            for table, rows in (("opcode", 79), ("variable", 40), ("subroutine", 36), ("aggregation", 9), ("action", 10)):
                self.assertGreater(len(profile["prices"][table]), rows - 8, table)
            self.assertIn("speculation", profile["prices"]["subroutine"])
            consumed = {"system", "freopen", "ftruncate", "setopt"}
            self.assertLessEqual({"speculate", "commit", "discard", "exit", "chill"} | consumed, set(profile["prices"]["action"]))
            printed = {"printa", "clear", "trunc", "normalize", "denormalize", "stack", "ustack", "usym", "uaddr", "umod", "ufunc", "sym", "func", "mod", "tracemem", "print"}
            self.assertLessEqual(consumed | printed, set(profile["prices"]["consumer"]))
            self.assertIn("many", profile["prices"]["tuple"])
            self.assertEqual(set(profile["prices"]["account"]), {"ecb", "evaluation", "step"})
            self.assertIn("trigger", profile["prices"]["source"]["replay"])
            self.assertIn("handler", profile["prices"]["source"]["tick"])
            if dvmtest.missing_privilege() is None:
                for source in ("pid", "pid_emulated", "pid_moved", "pid_nop5", "pid_return", "usdt", "syscall", "sched", "sdt", "profile"):
                    self.assertTrue(source in profile["prices"]["source"] or f"source {source} was not measured" in result.stderr, source)
                for source in ("pid_emulated", "syscall"):
                    self.assertEqual(set(profile["prices"]["source"][source]), {"trigger", "capture", "handler", "resume"}, source)
                self.assertEqual(set(profile["prices"]["source"]["pid_return_shared"]), {"trigger", "handler"})
                self.assertEqual(len(profile["prices"]["capture"]), 16)
                self.assertEqual(set(profile["prices"]["rested"]), {"process", "kernel"})
                self.assertIn("progenyof", profile["prices"]["subroutine"])
                self.stacks_have_a_price(path)
            else:
                self.assertIn("was not measured", result.stderr)
                self.assertEqual(set(profile["prices"]["capture"]), {"recorded"})
                self.older_prices_are_kept(profile, folder)
            self.agent_has_prices(profile["prices"], result.stderr)
            self.prices_are_plausible(profile["prices"])
            self.a_base_of_another_build_is_named_once(profile, folder)
            scripts = sorted(str(script) for script in (dvmtest.ROOT / "tests/cost").rglob("*.d"))
            self.assertGreaterEqual(len(scripts), 30)
            result = dvmtest.dvm("cost", "validate", "--quick", "--json", "--profile", path, *scripts, timeout=600)
            self.assertEqual(result.returncode, 0, result.stderr)
            rows = json.loads(result.stdout)["scripts"]
            self.assertEqual([row["script"] for row in rows], scripts)
            for row in rows:
                self.assertGreater(row["predicted_ns"], 0, row["script"])
                self.assertFalse(row["missing"], row["script"])
            disturbed = [row["script"] for row in rows if row["measured_ns"] <= 0]  # quick differences, on a core that others use
            self.assertLess(len(disturbed), len(rows) / 4, disturbed)
            self.engine_llvm_has_prices(profile["prices"], path)
            text = "replay:::firing /arg0 == 1/ { @[execname] = count(); trace(arg1); }"
            result = dvmtest.dvm("cost", "predict", "--profile", path, "--json", "-n", text)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertFalse(json.loads(result.stdout)["missing"])
            text = "replay:::firing { this->id = speculation(); speculate(this->id); trace(arg1); } replay:::firing { commit(this->id); } replay:::firing { exit(0); }"
            result = dvmtest.dvm("cost", "predict", "--profile", path, "--json", "-n", text)
            self.assertFalse(json.loads(result.stdout)["missing"], result.stderr)
            text = 'replay:::firing { system("ls"); freopen("x"); ftruncate(); setopt("quiet"); chill(1000); }'
            result = dvmtest.dvm("cost", "predict", "--profile", path, "--json", "--rate", "replay:::firing=1", "-n", text)
            self.assertFalse(json.loads(result.stdout)["missing"], result.stderr)

    # Of what cannot be measured now.
    def older_prices_are_kept(self, profile, folder):
        base, made = os.path.join(folder, "base.json"), os.path.join(folder, "made.json")
        profile["prices"]["capture"]["stack"] = {"m": 5, "n": 6, "spread": 1}
        with open(base, "w") as file:
            json.dump(profile, file)
        result = dvmtest.dvm("cost", "calibrate", "--quick", "--only", "capture", "--base", base, "-o", made)
        self.assertEqual(result.returncode, 0, result.stderr)
        with open(made) as file:
            self.assertEqual(json.load(file)["prices"]["capture"], profile["prices"]["capture"])

    # A calibration says so, and not each of its passes. What it makes does not claim that this build measured the kept rows.
    def a_base_of_another_build_is_named_once(self, profile, folder):
        base = os.path.join(folder, "older.json")
        profile["made_on"]["build"] = "f00d"
        with open(base, "w") as file:
            json.dump(profile, file)
        calibrate = [dvmtest.DVM, "cost", "calibrate", "--only", "account", "--base", base, "-o", "-"]
        one_pass = ["sh", "-c", f'exec "$@" 3<>{folder}/book', "sh", *calibrate, "--pass", "1"]
        for command, count in (([*calibrate, "--quick"], 1), (one_pass, 0)):
            result = subprocess.run(command, capture_output=True, text=True, env=dvmtest.ENV, timeout=60)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(result.stderr.count("was measured by another build"), count, result.stderr)
            self.assertEqual(json.loads(result.stdout)["made_on"]["build"], "f00d")

    def engine_llvm_has_prices(self, prices, path):
        scripts = [str(dvmtest.ROOT / "tests/cost" / name) for name in ("predicate_true.d", "count_by_two.d")]
        result = dvmtest.dvm("cost", "validate", "--engine", "llvm", "--quick", "--json", "--profile", path, *scripts, timeout=600)
        self.assertEqual("llvm" in prices, dvmtest.has_llvm())
        if "llvm" not in prices:
            self.assertEqual((result.returncode, result.stdout), (1, ""))
            return self.assertIn("has no prices of engine llvm", result.stderr)
        self.assertEqual(result.returncode, 0, result.stderr)
        for row in json.loads(result.stdout)["scripts"]:
            self.assertGreater(row["predicted_ns"], 0, row["script"])
            self.assertFalse(row["missing"], row["script"])
        self.assertNotIn("consumer", prices["llvm"])
        for table in ("opcode", "variable", "subroutine", "aggregation", "key", "record", "prepare"):
            self.assertIn(table, prices["llvm"])

    # Where firings are lost on a busy machine, or the agent is refused, a line says so.
    def agent_has_prices(self, prices, said):
        if "the stages of an agent were not measured" in said:
            return self.assertNotIn("agent", prices)
        rows = {f"agent/{folder}/{row}" for folder, all in prices["agent"].items() for row in all}
        rows |= set(re.findall(r"(?m)^dvm: (agent/\S+) was not measured", said))
        self.assertTrue("poll_lanes" in prices["consumer"] or "polls of an agent's lanes were not measured" in said, said)
        for folder, count in (("stub", 4), ("lane", 9), ("site", 14), ("aggregation", 9), ("key", 3), ("capture", 10)):
            self.assertEqual(sum(row.startswith(f"agent/{folder}/") for row in rows), count, folder)

    def prices_are_plausible(self, prices):
        for row in ("printa", "ustack", "tracemem"):
            self.assertGreater(prices["consumer"][row]["n"], 10, row)  # a key, a frame, a byte
        self.assertGreater(prices["consumer"]["heading"]["m"], 20)
        if dvmtest.missing_privilege() is None:
            self.assertGreater(prices["source"]["pid"]["trigger"]["m"], 0)
            for table, row in (("action", "raise"), ("action", "stop"), ("subroutine", "copyout"), ("subroutine", "copyoutstr")):
                self.assertGreater(prices[table][row]["m"], 100, row)  # a call of the kernel

    def stacks_have_a_price(self, path):
        text = "pid$target:a.out:func:entry { @[ustack(), copyinstr(arg0)] = sum(timestamp); }"
        looper = ["-c", dvmtest.program("looper") + " 1"]
        few, many = (dvmtest.dvm("cost", "predict", "--profile", path, "--json", "--frames", frames, "-n", text, *looper) for frames in ("3", "60"))
        self.assertEqual((few.returncode, many.returncode), (0, 0), few.stderr + many.stderr)
        few, many = json.loads(few.stdout), json.loads(many.stdout)
        self.assertFalse(few["missing"])
        self.assertGreater(many["probes"][0]["capture_clocks"], few["probes"][0]["capture_clocks"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
