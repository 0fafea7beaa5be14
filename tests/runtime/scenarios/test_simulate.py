#!/usr/bin/env python3
"""dvm simulate: how the cost of a script grows, and the points that are compared with measurements. Measured figures are
checked loosely, because the machine may be busy."""

import json
import os
import re
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

    def test_auto_is_priced_as_what_it_is_for_most_of_the_time(self):
        self.assertEqual(self.of("-x", "engine=interp")["engine"], "interp")
        alone = self.of("--rate", "100000")
        self.assertEqual((alone["engine"], alone["given"]["as_machine_code"]), ("auto", False))
        with open(self.profile, "w") as file:
            prices = {**PRICES, "llvm": {"aggregation": {"count": {"m": 1}}}}
            json.dump({"dvm_profile": 1, "name": "x", "machine": "y", "clock_hz": 1e9, "prices": prices}, file)
        after = 33e6 / 10  # LLVM, the body and the key's DIFO; 10 ns a firing
        for rate, native, ns in ((100_000, False, 120), (900_000, True, 111)):
            found = self.of("--rate", str(rate), "--cpus", "8", "--seconds", "10")
            self.assertAlmostEqual(found["translated_after_firings"], after)
            self.assertEqual((found["given"]["as_machine_code"], found["firing"]["dvm_ns"]), (native, ns), rate)
            text = simulate("--profile", self.profile, "-n", COUNT, "--rate", str(rate), "--cpus", "8").stdout
            self.assertIn("priced as machine code" if native else "priced as interpreted", text)

    def test_cpus_may_be_slower_than_the_profiles(self):
        found = self.of("--rate", "10000", "--slowdown", "1.5", "--cpus", "8")["given"]
        self.assertAlmostEqual(found["threads_percent"], 1.5, 4)
        self.assertEqual(simulate("--profile", self.profile, "--slowdown", "0", "-n", COUNT).returncode, 2)

    def test_it_grows_with_rate_threads_and_keys(self):
        sweeps = self.of("--rate", "5000", "--cpus", "4")["sweeps"]
        self.assertEqual(set(sweeps), {"rate", "threads", "cpus", "keys"})
        for name, of in (("rate", "threads_percent"), ("threads", "threads_percent"), ("keys", "consumer_percent")):
            shares = [point[of] for point in sweeps[name]]
            self.assertEqual(shares, sorted(shares), name)
            self.assertLess(shares[0], shares[-1], name)

    def test_drops_begin_where_the_ring_is_too_small(self):
        burst = self.of("--rate", "900000", "-x", "ringsize=4k", "--cpus", "4")
        self.assertGreater(burst["given"]["ring_drops"], 0)
        self.assertGreater(burst["first_drop_rate"], 0)
        self.assertLess(burst["first_drop_rate"], 900000)
        self.assertEqual(self.of("--rate", "900000", "--cpus", "4")["given"]["ring_drops"], 0)

    def test_other_small_buffers_are_read_more_often(self):
        record = "pid$target:a.out:func:entry { trace(arg0); }"
        for program, size in ((record, "bufsize=1k"), (COUNT, "aggsize=1k")):
            given = ("--rate", "100000", "--keys", "1000", "--cpus", "4")
            large, small = self.of(*given, program=program), self.of(*given, "-x", size, program=program)
            self.assertGreater(small["given"]["reads"], 100 * large["given"]["reads"], size)
            self.assertEqual(small["given"]["ring_drops"], 0, size)

    def test_a_buffer_of_policy_fill_ends_tracing(self):
        found = self.of("--rate", "20000", "-x", "bufpolicy=fill", "-x", "bufsize=48k", program="pid$target:a.out:func:entry { trace(arg0); }")["given"]
        self.assertAlmostEqual(found["full_after_seconds"], 2048 / 20000, 2)
        self.assertLess(found["seconds"], 0.11)
        self.assertEqual(found["kept_firings"], 2048)
        self.assertIsNone(self.of("-x", "bufpolicy=fill")["given"]["full_after_seconds"])

    def test_what_a_run_refuses(self):
        for program, setting, said in (("pid$target:a.out:func:entry { trace(execname); }", "bufsize=100", "Enabling exceeds size of buffer"),
                                       ("pid$target:a.out:func:entry { @[execname] = count(); }", "aggsize=100", "Enabling exceeds size of buffer"),
                                       (COUNT + "END { trace(1); } END { trace(2); }", "bufsize=40", "END enablings exceed size of principal buffer")):
            result = simulate("--profile", self.profile, "-x", "bufpolicy=fill", "-x", setting, "-n", program)
            self.assertEqual(result.returncode, 1, setting)
            self.assertIn(said, result.stderr)

    def test_dynamic_variables(self):
        store = "pid$target:a.out:func:entry { last[arg0] = 1; }"
        found = self.of("--rate", "10000", "--keys", "20000", "--seconds", "20", program=store)
        self.assertEqual(found["given"]["dynamic_most_live"], 10082)
        self.assertGreater(found["given"]["first_dynamic_drop_seconds"], 1)
        drops = [point["dynamic_drops"] for point in found["sweeps"]["keys"]]
        self.assertEqual(drops, sorted(drops))
        self.assertAlmostEqual(drops[-1], 10000 * 19 / 20, delta=20)  # after a second all but the first keys
        said = simulate("--profile", self.profile, "--keys", "20000", "--rate", "10000", "-n", store).stdout
        self.assertIn("dynvarsize 1048576 has room for 10082 live keys; further dynamic variables are dropped", said)
        self.assertRegex(said, r"\d+ dynamic variable drops a second, first after 1\.")
        self.assertIn("room for 10082 threads", simulate("--profile", self.profile, "-n", "pid$target:a.out:func:entry { self->t = 1; }").stdout)
        self.assertIsNone(self.of(program="pid$target:a.out:func:entry { self->t = 0; x = 1; }")["given"]["dynamic_most_live"])

    def test_the_instruction_under_a_probe_is_looked_at_where_it_is_known(self):
        prices = dict(PRICES, source=dict(PRICES["source"], pid_emulated={"trigger": {"m": 10}}))
        with open(self.profile, "w") as file:
            json.dump({"dvm_profile": 1, "name": "x", "machine": "y", "clock_hz": 1e9, "prices": prices}, file)
        program = "pid$target:a.out:func:entry { @ = count(); }"
        self.assertEqual(self.of(program=program)["firing"]["thread_ns"], 1000)
        self.assertLess(self.of("-c", dvmtest.program("looper") + " 1", program=program)["firing"]["thread_ns"], 1000)

    def test_copies_of_the_stack_are_as_long_as_their_option_says(self):
        stacks = [self.of("-x", f"ustackunwind={size}", program="syscall::read:entry { @[ustack()] = count(); }")["firing"]["ring_bytes"]
                  for size in ("0", "1k", "4k")]
        self.assertEqual(stacks[2] - stacks[1], 3072)
        self.assertLess(stacks[0], stacks[1])

    def test_a_kernels_vm_has_no_ring(self):
        result = simulate("--profile", "pentium4-1700", "--json", "-n", COUNT, "--rate", "44717")
        found = json.loads(result.stdout)
        self.assertEqual(found["firing"]["ring_bytes"], 0)
        self.assertEqual(found["firing"]["dvm_ns"], 0)

    def test_for_people(self):
        path = os.path.join(self.folder.name, "x.svg")
        result = simulate("--profile", self.profile, "-n", COUNT, "--svg", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        for text in ("SIMULATION", "makes the ring drop firings", "FIRED/S", "keys", "not priced by this profile"):
            self.assertIn(text, result.stdout)
        root = xml.etree.ElementTree.parse(path).getroot()
        self.assertEqual(len([e for e in root if e.tag.endswith("polyline")]), 3)
        texts = [e.text for e in root.iter() if e.tag.endswith("text")]
        for said in ("firings per second of each thread (logarithmic)", "% of a CPU", "100", "1000", "10000", "threads", "dvm", "consumer"):
            self.assertIn(said, texts)

    def test_buffers_that_are_read_at_the_end_for_people(self):
        record = "pid$target:a.out:func:entry { trace(arg0); }"
        for policy, program, text in (("fill", record, "a principal buffer is full after 174.8 s, which ends tracing"),
                                      ("ring", record, "the principal buffers are full after 174.8 s, and the oldest records are overwritten"),
                                      ("fill", COUNT, "no principal buffer fills up")):
            result = simulate("--profile", self.profile, "-x", f"bufpolicy={policy}", "-n", program)
            self.assertEqual(result.returncode, 0, result.stderr)
            for said in (text, f"bufpolicy {policy}", "FULL AFTER S"):
                self.assertIn(said, result.stdout)

    def test_bad_input(self):
        for args in (("--rate", "-1"), ("--threads", "0"), ("--cpus", "x"), ("--seconds", "1e9")):
            self.assertEqual(simulate("--profile", self.profile, "-n", COUNT, *args).returncode, 2, args)
        result = simulate("--profile", self.profile, "-n", "BEGIN { trace(1); }")
        self.assertEqual(result.returncode, 1)
        self.assertIn("no probe that a thread fires", result.stderr)
        self.assertEqual(simulate("--profile", "nowhere.json", "-n", COUNT).returncode, 1)
        self.assertEqual(simulate("--profile", self.profile, "-n", COUNT, "--svg", "/nowhere/x.svg").returncode, 1)
        self.assertEqual(simulate("--profile", self.profile, "-n", "pid$target::f:entry { nothing(); }").returncode, 1)
        self.assertEqual(simulate("--profile", self.profile, "-n", COUNT, "--only", "count_1k").returncode, 2)
        result = simulate("--check", "--profile", "pentium4-1700", "--only", "nothing")
        self.assertEqual(result.returncode, 1)
        self.assertIn("--only nothing", result.stderr)


class Beside(dvmtest.PrivilegedTest):
    """A simulation beside a run whose results are the same each time."""

    CALLS = 5000

    def setUp(self):
        super().setUp()
        cpus = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(cpus)})  # one principal buffer
        self.addCleanup(os.sched_setaffinity, 0, cpus)

    def both(self, program, *args):
        given = json.loads(simulate("--profile", "pentium4-1700", "--json", "--rate", str(self.CALLS), "--seconds", "1", "--strings", "13", "-n", program, *args).stdout)["given"]
        result = dvmtest.dvm("run", "-q", "-x", "statusrate=60s", "-n", program, *args, "-c", f"{dvmtest.program('looper')} {self.CALLS}")
        self.assertEqual(result.returncode, 0, result.stderr)
        found = re.findall(r"(\d+) dynamic variable drop", result.stderr)
        self.assertEqual(result.stderr.count(" drop"), len(found), result.stderr)
        given["run"] = sum(int(number) for number in found[:1])
        return given, [line for line in result.stdout.splitlines() if line and "ns/call" not in line]

    def test_records_that_are_kept(self):
        number = 'pid$target:looper:func:entry { printf("%d\\n", i++); }'
        end = 'END { printf("-1\\n"); }'
        text = 'pid$target:looper:func:entry { printf("%d %s\\n", i++, copyinstr(arg0)); }'
        for program, size, policy, kept in ((number, "1k", "fill", 42), (number, "1k", "ring", 42), (number, "1k", "switch", 0), (number + end, "1k", "fill", 42),
                                            (text, "4k", "fill", 14), (text, "4k", "ring", 14), (number, "1m", "fill", self.CALLS), (number, "1m", "ring", self.CALLS)):
            simulated, lines = self.both(program, "-x", f"bufpolicy={policy}", "-x", f"bufsize={size}")
            case = f"{policy} {size} {program}"
            self.assertAlmostEqual(simulated["kept_firings"], kept, delta=0.01 * kept, msg=case)
            numbers = [int(line.split()[0]) for line in lines if line != "-1"]
            if policy == "switch":
                kept = self.CALLS
            elif kept < self.CALLS:
                self.assertEqual(simulated["kept_firings"], len(numbers), case)
            first = self.CALLS - kept if policy == "ring" else 0
            self.assertEqual(numbers, list(range(first, first + kept)), case)
            self.assertEqual(lines.count("-1"), int(end in program))


    def test_dynamic_variables_that_are_dropped(self):
        clause = "pid$target:looper:func:entry { i++; %s }"
        for stores, size, of_a_key in (("a[i] = 1;", "64k", 1), ("self->a[i] = i;", "64k", 1), ("a[i, 7] = 1;", "64k", 1), ("a[i, 7, 8] = 1;", "64k", 1),
                                       ("a[i, copyinstr(arg0)] = 1;", "100000", 1), ('a[i] = "a literal that is longer than all of the others here";', "64k", 1),
                                       ("a[i, 7, 8, 9] = copyinstr(arg0);", "128k", 1), ("a[i] = 1; b[i, 2, 3] = 2;", "128k", 2), ("a[i] = 1; a[i] = 0;", "4k", 0)):
            simulated, _ = self.both(clause % stores, "-x", f"dynvarsize={size}")
            dropped = self.CALLS - simulated["dynamic_most_live"] if of_a_key else 0
            if of_a_key < 2:
                self.assertEqual(simulated["run"], dropped, stores)
            else:  # the one without room leaves some for the other
                self.assertGreaterEqual(simulated["run"], dropped, stores)
                self.assertLessEqual(simulated["run"], 2 * dropped, stores)
            self.assertEqual(simulated["run"] > 0, of_a_key > 0)
        for size, threads in (("100", 0), ("110", 1)):  # the one that there is, or none
            simulated, _ = self.both(clause % "self->a = 1;", "-x", f"dynvarsize={size}")
            self.assertEqual((simulated["dynamic_most_live"], simulated["run"]), (threads, 0 if threads else self.CALLS))
            self.assertAlmostEqual(simulated["dynamic_drops"], simulated["run"], delta=0.01 * self.CALLS)


class Check(dvmtest.PrivilegedTest):
    def test_a_terminal_shows_the_progress(self):
        said, _ = dvmtest.errors_on_terminal(self, dvmtest.DVM, "simulate", "--check", "--quick", "--profile", "pentium4-1700", "--only", "count_20k")
        self.assertIn("dvm: measuring count_20k: 0 of 1", said)
        self.assertTrue(said.endswith("\r\033[K"), said)

    def test_simulated_beside_measured(self):
        names = ["count_20k", "two_full", "keys_small", "records_small", "records_ring", "ring_16k"]
        only = [part for name in names for part in ("--only", name)]
        result = dvmtest.dvm("simulate", "--check", "--quick", "--json", "--profile", "pentium4-1700", *only, timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr)
        points = {point["name"]: point for point in json.loads(result.stdout)["points"]}
        self.assertEqual(list(points), names)
        for name, point in points.items():
            self.assertNotIn("problem", point)
            measured = {figure["name"]: figure["measured"] for figure in point["figures"]}
            self.assertEqual(list(measured), ["fired", "handled", "ring drops", "other drops", "threads", "dvm"])
            self.assertGreater(measured["handled"], 0, name)
            self.assertGreater(measured["dvm"], 0, name)
            self.assertEqual(measured["other drops"], 0, name)
            self.assertAlmostEqual(measured["fired"], measured["handled"] + measured["ring drops"], -1, name)
        self.assertEqual(points["two_full"]["threads"], 2)
        self.assertEqual(points["keys_small"]["keys"], 1000)

    def test_when_a_full_buffer_ends_tracing(self):
        for _ in range(3):  # a thread that is kept waiting fills it later
            result = dvmtest.dvm("simulate", "--check", "--quick", "--json", "--profile", "pentium4-1700", "--only", "records_fill", timeout=300)
            self.assertEqual(result.returncode, 0, result.stderr)
            (figure,) = json.loads(result.stdout)["points"][0]["figures"]
            self.assertEqual(figure["name"], "ends after")
            self.assertAlmostEqual(figure["simulated"], 105, delta=3)  # at the next look, 4 ms later at most
            self.assertGreater(figure["measured"], 100)  # 2048 records at 20,000 a second
            if figure["measured"] < 190:
                return
        self.fail("tracing ended with the job only, after 200 ms")

    def test_for_people(self):
        result = dvmtest.dvm("simulate", "--check", "--quick", "--profile", "pentium4-1700", "--only", "count_20k", timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr)
        for text in ("SIMULATED", "MEASURED", "count_20k", "handled"):
            self.assertIn(text, result.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv)
