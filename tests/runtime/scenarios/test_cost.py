#!/usr/bin/env python3
"""What a script will cost, by the model and a profile: no tracing, no privileges."""

import json
import os
import pathlib
import re
import struct
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import dvmtest

PENTIUM = ("--profile", "pentium4-1700")


def predict(*args):
    return dvmtest.dvm("cost", "predict", *args)


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


class Predict(unittest.TestCase):
    def of(self, *args):
        result = predict(*PENTIUM, "--json", *args)
        self.assertEqual(result.returncode, 0, result.stderr)
        return json.loads(result.stdout)

    def test_a_counting_probe_is_priced_as_the_paper_has_it(self):
        probe = self.of("-n", "pid$target:a.out:func:entry { @ = count(); }", "--rate", "pid$target:a.out:func:entry=44717")["probes"][0]
        self.assertEqual(probe["firing"], {"cheapest": 4533, "expected": 4533, "dearest": 4533, "spread": 353})
        self.assertAlmostEqual(probe["cpu_percent"], 11.9237, 4)
        self.assertAlmostEqual(probe["one_percent_rate"], 1.7e7 / 4533, 3)

    def test_a_predicate_makes_a_range(self):
        text = "syscall::read:entry /arg0 == 3/ { @ = count(); }"
        low, high = (self.of("-n", text, "--prob", share)["probes"][0]["firing"] for share in ("0", "1"))
        self.assertEqual(low["cheapest"], high["cheapest"])
        self.assertEqual(high["expected"] - low["expected"], 1402)
        self.assertLessEqual(low["cheapest"], low["expected"])
        self.assertLessEqual(high["expected"], high["dearest"])

    def test_clauses_of_a_probe_share_its_firing(self):
        one = self.of("-n", "syscall::read:entry { @ = count(); }")["probes"]
        two = self.of("-n", "syscall::read:entry { @ = count(); }", "-n", "syscall::read:entry { @b = count(); }")["probes"]
        self.assertEqual((len(one), len(two)), (1, 1))
        self.assertEqual(two[0]["firing"]["expected"] - one[0]["firing"]["expected"], 170 + 1402)

    def test_a_fault_costs_the_clauses_of_error(self):
        text = "pid$target:a.out:func:entry { @[copyinstr(arg0)] = count(); } ERROR { @e = count(); }"
        never, half = (self.of("-n", text, "--faults", share) for share in ("0", "0.5"))
        self.assertEqual(never["error"]["fault"]["expected"], 432 + 170 + 1402)
        self.assertEqual(half["probes"][0]["firing"]["expected"] - never["probes"][0]["firing"]["expected"], 0.5 * (432 + 170 + 1402))
        self.assertIn("CLOCKS A FAULT", predict(*PENTIUM, "-n", text).stdout)

    def test_what_has_no_price_is_named(self):
        result = predict(*PENTIUM, "-n", "syscall::read:entry { trace(substr(execname, 1)); }")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("not priced by this profile", result.stdout)
        self.assertIn("subroutine/substr", result.stdout)
        self.assertIn("variable/execname", result.stdout)

    def test_a_timers_rate_is_in_its_name(self):
        text = "profile-997 { @ = count(); } tick-100ms { @b = count(); }"
        profile, tick = self.of("--cpus", "4", "-n", text)["probes"]
        self.assertAlmostEqual(profile["rate"], 4 * 997, 1)
        self.assertAlmostEqual(tick["rate"], 10)
        self.assertTrue(profile["rate_by_name"] and tick["rate_by_name"])
        self.assertAlmostEqual(profile["cpu_percent"], 100 * 4 * 997 * profile["firing"]["expected"] / 1.7e9, 4)
        given, _ = self.of("--cpus", "4", "--rate", ":::profile-997=5", "-n", text)["probes"]
        self.assertEqual((given["rate"], given["rate_by_name"]), (5, False))

    def test_what_is_speculated_is_printed_if_it_is_committed(self):
        rates = [part for side in ("entry", "return") for part in ("--rate", f"syscall::read:{side}=1000")]
        for end, share in (("/errno/ { commit(self->s); }", 0.5), ("/errno/ { discard(self->s); }", 0), ("{ commit(self->s); }", 1)):
            text = "syscall::read:entry { self->s = speculation(); speculate(self->s); trace(arg1); } syscall::read:return " + end
            found = self.of(*rates, "-n", text)
            self.assertEqual(found["probes"][0]["clauses"][0]["committed_share"], share, end)
            self.assertAlmostEqual(found["record_bytes_per_second"], 24 * 1000 * share)
            self.assertNotIn("committed_share", found["probes"][1]["clauses"][0])
            self.assertIn(f"{100 * share:.3g} % of the speculated data is committed", predict(*PENTIUM, *rates, "-n", text).stdout)

    def test_it_is_said_whence_a_rate_is_known_and_what_has_none(self):
        said = predict(*PENTIUM, "--cpus", "4", "-n", "profile-997,tick-1min,syscall::read:entry { @ = count(); }").stdout
        self.assertIn("at 3988 firings a second (from its name, on 4 CPUs):", said)
        self.assertIn("at 0.0167 firings a second (from its name):", said)
        self.assertIn("excluded: syscall::read:entry; give its rate with --rate or --sample", said)
        self.assertNotIn("OF A CPU AT THESE RATES", predict(*PENTIUM, "-n", "syscall::read:entry { @ = count(); }").stdout)

    def test_the_drawing_is_one(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "bars.svg")
            self.of("--svg", path, "-n", "syscall::read:entry /pid > 1/ { @ = count(); }")
            root = xml.etree.ElementTree.parse(path).getroot()
            self.assertEqual(len([e for e in root if e.tag.endswith("rect")]), 5)  # two stages of the source
            text = " ".join(root.itertext())
            for said in ("syscall: trigger", "preparation", "predicate of line 1", "actions of line 1", " clocks "):
                self.assertIn(said, text)

    def test_bad_input(self):
        text = "syscall::read:entry { @ = count(); }"
        result = predict("--profile", "pentium4-1600", "-n", text)
        self.assertEqual(result.returncode, 1)
        self.assertIn("did you mean 'pentium4-1700'", result.stderr)
        result = predict(*PENTIUM, "--rate", "syscall::write:entry=5", "-n", text)
        self.assertIn("no probe syscall::write:entry", result.stderr)
        self.assertEqual(result.returncode, 1)
        for rate in ("x", "a=b", "a=-1", "a=1e99"):
            self.assertIn("PROBE=N", predict(*PENTIUM, "--rate", rate, "-n", text).stderr)
        self.assertEqual(predict(*PENTIUM, "-n", "syscall::read:entry { trace(nothing); }").returncode, 1)
        self.assertEqual(predict(*PENTIUM, "--svg", "/nowhere/x.svg", "-n", text).returncode, 1)

    def test_bad_profiles(self):
        text = "syscall::read:entry { @ = count(); }"
        head = '{"dvm_profile": 1, "name": "x", "machine": "y", "clock_hz": 1e9, "prices": '
        with tempfile.TemporaryDirectory() as folder:
            for body, said in ((head, ":1:"), (head + '{"opcode": {"add": {"m": -3}}}}', "opcode/add"), ("{}", "not a profile")):
                result = predict("--profile", write(folder, "p.json", body), "-n", text)
                self.assertEqual(result.returncode, 1, body)
                self.assertIn(said, result.stderr)
            result = predict("--profile", write(folder, "p.json", head + '{"opcode": {"fma": {"m": 3}}}}'), "-n", text)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("warning", result.stderr)

    def test_the_engine_of_a_script_prices_it(self):
        body = ('{"dvm_profile": 1, "name": "x", "machine": "y", "clock_hz": 1e9, "prices": {"prepare": {"machine": {"m": 50}, "ecb": {"m": 7}}, '
                '"aggregation": {"count": {"m": 30}}%s}}')
        llvm = ', "llvm": {"prepare": {"machine": {"m": 20}}, "aggregation": {"count": {"m": 5}}}'
        text = "syscall::read:entry { @ = count(); }"
        with tempfile.TemporaryDirectory() as folder:
            both, one = write(folder, "both.json", body % llvm), write(folder, "one.json", body % "")
            for engine, cost in (("interp", 50 + 7 + 30), ("auto", 50 + 7 + 30), ("llvm", 20 + 7 + 5)):
                result = predict("--profile", both, "--json", "-x", f"engine={engine}", "-n", text)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual(json.loads(result.stdout)["probes"][0]["firing"]["expected"], cost, engine)
            self.auto_has_both_prices(both, text)
            found = json.loads(predict("--profile", one, "--json", "-n", text).stdout)
            self.assertEqual((found["engine"], len(found["engine_changes"])), ("auto", 1))
            self.assertNotIn("shares_later", found)
            self.assertIn("the profile has no prices of the machine code", predict("--profile", one, "-n", text).stdout)
            for command in (("cost", "predict", "-n", text), ("simulate", "-n", text)):
                result = dvmtest.dvm(*command, "--profile", one, "-x", "engine=llvm")
                self.assertEqual((result.returncode, result.stdout), (1, ""), command)
                self.assertIn("profile x has no prices of engine llvm", result.stderr)
                self.assertIn("hint: 'dvm cost calibrate'", result.stderr)
            result = dvmtest.dvm("cost", "validate", "--profile", one, "--engine", "llvm", write(folder, "x.d", "replay:::firing { @ = count(); }"))
            self.assertEqual(result.returncode, 1)
            self.assertIn("no prices of engine llvm", result.stderr)


    def auto_has_both_prices(self, profile, text):
        """30 ms to load LLVM and 1.5 ms to translate the clause are as much as a million times the 30 ns of count()."""
        args = ("--profile", profile, "-n", text, "--rate", "syscall::read:entry=100000")
        found = json.loads(predict(*args, "--json").stdout)
        change, = found["engine_changes"]
        self.assertEqual((found["engine"], change["clause"]), ("auto", 0))
        self.assertAlmostEqual(change["firings"], 31.5e6 / 30)
        self.assertAlmostEqual(change["seconds"], 10.5)
        self.assertEqual(found["probes"][0]["firing_later"]["expected"], 20 + 7 + 5)
        self.assertLess(found["shares_later"]["all"]["percent"], found["shares"]["all"]["percent"])
        text = predict(*args).stdout
        self.assertRegex(text, r"(?m)^    firing as machine code +32 +32 +32$")
        self.assertRegex(text, r"engine auto: priced as interpreted, as clauses begin, and as the machine code that they become\n"
                               r"    dt_clause_0 \(-n:1\) is translated after about 1\.\de\+06 firings, 10\.5 s at these rates")


class OwnProfile(unittest.TestCase):
    """The profile of this machine, where it is kept, and one that was measured elsewhere."""

    TEXT = "syscall::read:entry { @ = count(); }"
    PRICES = ('{"prepare": {"machine": {"m": 1}, "ecb": {"m": 1}}, "aggregation": {"count": {"m": 1}}, '
              '"source": {"syscall": {"trigger": {"m": 1}}}}')

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.env = {**dvmtest.ENV, "XDG_CONFIG_HOME": self.folder}

    def dvm(self, *args):
        return dvmtest.dvm("cost", *args, env=self.env)

    def keep(self, made_on, clock="1e9", prices=PRICES):
        os.makedirs(os.path.join(self.folder, "dvm"), exist_ok=True)
        write(self.folder, "dvm/profile.json", '{"dvm_profile": 1, "name": "x", "machine": "y", "clock_hz": %s%s, "prices": %s}' %
              (clock, made_on, prices))

    def test_without_one_it_is_said_how_to_get_one(self):
        for command in (("predict", "-n", self.TEXT), ("validate", "x.d")):
            result = self.dvm(*command)
            self.assertEqual(result.returncode, 1)
            self.assertIn("there is no profile of this machine", result.stderr)
            self.assertIn("dvm cost calibrate", result.stderr)

    def test_the_one_that_is_kept_is_used(self):
        self.keep("")
        result = self.dvm("predict", "-n", self.TEXT)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("by profile x", result.stdout)

    def test_one_of_another_machine_is_used_with_a_warning(self):
        self.keep(', "made_on": {"cpu": "Z80", "kernel": "CP/M 2.2", "dvm": "0.0"}', "4e6")
        result = self.dvm("predict", "-n", self.TEXT)
        self.assertEqual(result.returncode, 0, result.stderr)
        for said in ("its CPU is Z80", "its kernel is CP/M 2.2", "its dvm is 0.0", "its clock runs at 0.004 GHz"):
            self.assertIn(said, result.stderr)

    def test_one_of_another_build_is_used_with_a_warning(self):
        """Not if the version differs, which is said, nor if the profile has no build, as of earlier versions."""
        with open(dvmtest.DVM, "rb") as file:
            own = file.read().partition(struct.pack("<3I4s", 4, 20, 3, b"GNU"))[2][:20].hex()
        version = dvmtest.dvm("--version").stdout.split()[1]
        for build, made_by, count in ((', "build": "00ff"', version, 1), (f', "build": "{own}"', version, 0), ("", version, 0),
                                      (', "build": "00ff"', "0.0", 0)):
            self.keep(', "made_on": {"cpu": "x", "kernel": "y", "dvm": "%s"%s}' % (made_by, build))
            result = self.dvm("predict", "--json", "-n", self.TEXT)
            self.assertEqual((result.returncode, result.stderr.count("by another build of dvm; 'dvm cost calibrate' measures it again\n")),
                             (0, count), result.stderr)
            json.loads(result.stdout)

    def test_a_damaged_one_is_refused(self):
        for made_on, prices, said in (("", '{"opcode": {"add": {"m": NaN}}}', ":1:"), ("", '{"opcode": {"add": {"m": 1', ":1:"),
                                      ("", '{"opcode": {"add": {"m": 1, "n": -2}}}', 'opcode/add/n is -2'),
                                      (', "made_on": 3', self.PRICES, 'made_on is not an object'),
                                      (', "made_on": {"cpu": "x"}', self.PRICES, '"made_on/kernel" is missing')):
            self.keep(made_on, prices=prices)
            result = self.dvm("predict", "-n", self.TEXT)
            self.assertEqual((result.returncode, result.stdout), (1, ""), prices)
            self.assertIn(said, result.stderr)

    def test_a_wait_is_priced_by_its_argument(self):
        self.keep("", prices='{"action": {"chill": {"m": 100, "n": 3}}}')
        result = self.dvm("predict", "--json", "-n", "syscall::read:entry { chill(1000); }")
        self.assertEqual(json.loads(result.stdout)["probes"][0]["firing"]["expected"], 100 + 3 * 1000)

    def test_what_the_consumer_does_at_a_record_is_priced(self):
        self.keep("", prices='{"consumer": {"system": {"m": 5000000}}}')
        share = [json.loads(self.dvm("predict", "--json", "--rate", "syscall::read:entry=2", "-n", text).stdout)["shares"]["consumer"]["percent"]
                 for text in ('syscall::read:entry { system("ls"); }', 'syscall::read:entry { printf("x"); }')]
        self.assertAlmostEqual(share[0] - share[1], 100 * 2 * 5e6 / 1e9)

    def test_a_printa_is_priced_by_its_keys(self):
        self.keep("", prices='{"consumer": {"printa": {"m": 5000000, "n": 1000000}}}')
        arguments = ("predict", "--json", "--rate", "syscall::read:entry=2", "-n", "syscall::read:entry { @ = count(); printa(@); }")
        share = [json.loads(self.dvm(*arguments, *keys).stdout)["shares"]["consumer"]["percent"] for keys in ((), ("--keys", "50"))]
        self.assertAlmostEqual(share[1] - share[0], 100 * 2 * (50 - 10) * 1e6 / 1e9)

    def test_firings_behind_a_rest_are_in_the_shares(self):
        self.keep("", prices='{"rested": {"kernel": {"m": 2000}}}')
        arguments = ("predict", "--json", "--rate", "syscall::read:entry=10000", "-n", self.TEXT)
        shares = [json.loads(self.dvm(*arguments, *wakes).stdout) for wakes in (("--wakes", "0"), (), ("--wakes", "1e6"))]
        self.assertEqual([round(share["after_idle_percent"], 6) for share in shares], [0, 0.2, 2])  # 0, 1000 and each firing
        probes = [share["shares"]["probes"]["system_percent"] for share in shares]
        self.assertAlmostEqual(probes[2] - probes[0], 2)
        self.assertIn("probes includes 0.2000 for the first firings after idle time, 2000 ns each", self.dvm(*arguments[:1], *arguments[2:]).stdout)

    def test_a_commit_is_priced_by_what_it_finds(self):
        self.keep("", prices='{"action": {"commit": {"m": 100, "n": 2}}, "record": {"integer": {"m": 1000}}}')
        text = "P { this->id = speculation(); speculate(this->id); trace(arg1); } P { commit(this->id); }".replace("P ", "syscall::read:entry ")
        result = self.dvm("predict", "--json", "-n", text)
        self.assertEqual(result.returncode, 0, result.stderr)
        record = 24  # the head and the integer that is traced; the speculation's number is not kept
        self.assertEqual(json.loads(result.stdout)["probes"][0]["firing"]["expected"], 1000 + 100 + 2 * record)

    def test_what_no_profile_prices_says_why(self):
        self.keep("", prices="{}")
        result = self.dvm("predict", "-n", "fbt::vfs_read:entry { @ = count(); } BEGIN { x = 1; }")
        self.assertIn("source/fbt: there are no probes in the kernel's functions", result.stdout)
        self.assertIn("no clause is on a probe that has a price", self.dvm("predict", "-n", "BEGIN { x = 1; }").stdout)

    def test_missing_rows_are_named(self):
        self.keep("", prices="{}")
        result = self.dvm("predict", "-n", self.TEXT)
        self.assertEqual(result.returncode, 0, result.stderr)
        for row in ("prepare/machine", "aggregation/count", "source/syscall"):
            self.assertIn(row, result.stdout)


class Sites(unittest.TestCase):
    def test_the_instruction_under_a_probe_is_looked_at_where_it_is_known(self):
        text = "pid$target:a.out:func:entry { @ = count(); }"
        probe = json.loads(predict(*PENTIUM, "--json", "-n", text).stdout)["probes"][0]
        self.assertEqual((probe["source"], probe["source_assumed"]), ("pid", True))
        self.assertIn("assumed: an instruction that the kernel single-steps", predict(*PENTIUM, "-n", text).stdout)
        of_libc = predict(*PENTIUM, "-n", "pid$target:libc:malloc:entry { @ = count(); }", "-c", dvmtest.program("looper") + " 1")
        self.assertRegex(of_libc.stdout, "assumed: .*\n.* libraries are not mapped yet: use dvm run --predict")
        result = predict(*PENTIUM, "--json", "-n", text, "-c", dvmtest.program("looper") + " 1")
        self.assertEqual(result.returncode, 0, result.stderr)
        probe = json.loads(result.stdout)["probes"][0]
        self.assertFalse(probe["source_assumed"])
        self.assertTrue(probe["source"].startswith("pid"))
        self.assertEqual(probe["source_clocks"], 2529)  # a profile that does not tell sites apart

    def test_several_probes_on_an_instruction_share_its_trap(self):
        text = "pid$target:a.out:func:entry,pid$target:a.out:func:0,pid$target:a.out:func:return { @ = count(); }"
        result = predict(*PENTIUM, "--json", "-n", text, "-c", dvmtest.program("looper") + " 1")
        self.assertEqual(result.returncode, 0, result.stderr)
        sources = [probe["source"] for probe in json.loads(result.stdout)["probes"]]
        self.assertEqual(sorted(source for source in sources if "shared" in source), ["pid_return_shared", "pid_shared"])


class Ledger(unittest.TestCase):
    RECORDING = dvmtest.ROOT / "tests/runtime/recorded/looper.dvm"

    def numbers(self, *script):
        result = dvmtest.dvm("replay", "-q", "--ledger=pentium4-1700", str(self.RECORDING), *script)
        self.assertEqual(result.returncode, 0, result.stderr)
        ledger = result.stdout[result.stdout.index("LEDGER"):]
        return {name: float(clocks) for name, clocks in re.findall(r"^  (\w+(?: \w+)*)  +([-+]?\d+)\b", ledger, re.M)}

    def test_its_parts_are_what_was_accounted_and_the_difference_is_shown(self):
        found = self.numbers("-n", "pid$target:looper:func:entry /arg0 != 0/ { @[probefunc] = count(); }")
        parts = ("source", "preparation", "DIF", "actions", "values kept", "consumer", "counting")
        self.assertAlmostEqual(sum(found[part] for part in parts), found["accounted"], delta=len(parts))
        self.assertGreater(found["DIF"], 0)
        self.assertGreater(found["measured"], 0)
        self.assertAlmostEqual(found["difference"], found["accounted"] - found["measured"], delta=2)

    def run_on(self, engine, prices):
        with tempfile.TemporaryDirectory() as folder:
            profile = pathlib.Path(folder) / "profile.json"
            profile.write_text(json.dumps({"dvm_profile": 1, "name": "here", "machine": "this", "clock_hz": 1e9, "prices": prices}))
            return dvmtest.dvm("replay", "-q", f"--ledger={profile}", "-x", f"engine={engine}", str(self.RECORDING),
                               "-n", "pid$target:::entry { @ = sum(arg0); }")

    def test_prices_are_those_of_the_engine_that_ran(self):
        prices = {"aggregation": {"sum": {"m": 1000}}, "llvm": {"aggregation": {"sum": {"m": 10}}}}
        clocks = {}
        for engine in ("interp", "llvm"):
            result = self.run_on(engine, prices)
            self.assertEqual(result.returncode, 0, result.stderr)
            clocks[engine] = int(re.search(r"(?m)^  actions +(\d+)", result.stdout)[1])
            if dvmtest.has_llvm():
                shares = "engine llvm: 100 % of the runs of clauses were machine code\n" if engine == "llvm" else "engine interp\n"
                self.assertIn(shares, result.stdout)
        if not dvmtest.has_llvm():
            self.skipTest("no engine llvm here")
        self.assertGreater(clocks["interp"], 0)
        self.assertEqual(clocks["interp"], 100 * clocks["llvm"])

    def test_a_profile_without_prices_of_the_engine_is_refused(self):
        result = self.run_on("llvm", {})
        self.assertEqual(result.returncode, 1)
        self.assertIn("has no prices of engine llvm", result.stderr)

    def test_files_are_left_out_and_the_speed_of_the_core_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            profile = pathlib.Path(folder) / "profile.json"
            profile.write_text(json.dumps({"dvm_profile": 1, "name": "here", "machine": "this", "clock_hz": 1e9,
                                           "core_speed": 1e-3, "prices": {}}))
            result = dvmtest.dvm("replay", "-q", f"--ledger={profile}", str(self.RECORDING), "-n", "pid$target:::entry { trace(arg0); }")
        self.assertEqual(result.returncode, 0, result.stderr)
        found = re.search(r"measured +(\d+) +excluding reading the recording \((\d+)\) and writing the output \((\d+)\)", result.stdout)
        self.assertTrue(found, result.stdout)
        self.assertTrue(all(int(clocks) > 0 for clocks in found.groups()), found.groups())
        speed = re.search(r"core speed +([\d.]+)  +relative to the profile", result.stdout)
        self.assertGreater(float(speed.group(1)), 100)

    def test_without_a_name_it_is_the_one_of_this_machine(self):
        with tempfile.TemporaryDirectory() as folder:
            env = {**dvmtest.ENV, "XDG_CONFIG_HOME": folder}
            result = dvmtest.dvm("replay", "--ledger", str(self.RECORDING), "-n", "BEGIN { exit(0); }", env=env)
        self.assertEqual(result.returncode, 1)
        self.assertIn("there is no profile of this machine", result.stderr)

    def test_a_profile_that_is_not_there(self):
        result = dvmtest.dvm("replay", "--ledger=/nowhere.json", str(self.RECORDING), "-n", "BEGIN { exit(0); }")
        self.assertEqual(result.returncode, 1)
        self.assertIn("/nowhere.json", result.stderr)


class Refused(unittest.TestCase):
    def test_what_cannot_be_validated(self):
        with tempfile.TemporaryDirectory() as folder:
            for text, said in (("BEGIN { trace(1); }", "replay:::firing"),
                               ("replay:::firing { trace(nothing); }", "does not compile")):
                result = dvmtest.dvm("cost", "validate", *PENTIUM, "--quick", write(folder, "x.d", text))
                self.assertEqual(result.returncode, 1, text)
                self.assertIn(said, result.stderr)

    def test_where_it_cannot_be_written(self):
        for arguments, said in ((("-o", "/nowhere/p.json"), "/nowhere/p.json': No such file"), (("-o", "/"), "/': Is a directory"),
                                (("--check", "/nowhere/p.json"), "/nowhere/p.json: No such file"), (("--check", "/"), "/: Is a directory")):
            result = dvmtest.dvm("cost", "calibrate", *arguments)  # not a quick one: it is refused before anything is measured
            self.assertEqual((result.returncode, result.stdout), (1, ""), arguments)
            self.assertIn(said, result.stderr)


class Validate(unittest.TestCase):
    def test_the_experiments_of_the_paper(self):
        result = dvmtest.dvm("cost", "validate", "--paper", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        experiments = json.loads(result.stdout)["experiments"]
        self.assertEqual(len(experiments), 6)
        for row in experiments:
            self.assertEqual(f"{row['predicted_percent']:.4f}", f"{row['published_prediction']:.4f}", row["name"])
        self.assertIn("fbt, 10 clauses", dvmtest.dvm("cost", "validate", "--paper").stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
