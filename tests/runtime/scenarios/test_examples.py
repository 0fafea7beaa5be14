"""The examples on real programs: exact where the figure is known, plausible where it is not."""

import os
import re
import subprocess
import tempfile
import unittest

import dvmtest
from dvmtest import ROOT, SANITIZED, dvm, program

CALLS = 100_000 if SANITIZED else 10_000_000
STRING_CALLS = 20_000 if SANITIZED else 1_000_000


def example(name):
    return str(ROOT / "examples" / name)


class Compiled(unittest.TestCase):
    def test_every_example_compiles(self):
        scripts = sorted((ROOT / "examples").glob("*.d"))
        self.assertGreater(len(scripts), 5)
        without_code = []
        for script in scripts:
            result = dvm("compile", "-p", str(os.getpid()), str(script))
            self.assertEqual(result.returncode, 0, result.stderr)
            if "\nDIFO 0x1 returns " not in result.stdout:
                without_code.append(script.name)
        self.assertEqual(without_code, ["looper.d"])  # @ = count() computes nothing


class Examples(dvmtest.PrivilegedTest):
    def stay_on_one_cpu(self):
        """For what is started from now on: a program then gets no CPU that dvm waits for, however much else runs."""
        cpus = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, cpus)
        os.sched_setaffinity(0, {min(cpus)})

    def test_looper_counts_every_call(self):
        self.stay_on_one_cpu()
        result = dvm("run", "-q", example("looper.d"), "-c", f"{program('looper')} {CALLS}", timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, rf"\n +{CALLS}\n")
        self.assertNotIn("drop", result.stderr)

    def test_looper_strings_has_one_exact_row(self):
        self.stay_on_one_cpu()
        result = dvm("run", "-q", example("looper-strings.d"), "-c", f"{program('looper')} {STRING_CALLS}", timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = re.findall(r"^  (\S.*?) +(\d+)$", result.stdout, re.M)
        self.assertEqual(rows, [("hello DTrace", str(STRING_CALLS))], result.stdout + result.stderr)
        self.assertNotIn("drop", result.stderr)

    def test_malloc_sizes_of_python(self):
        result = dvm("run", example("malloc-sizes.d"), "-c", "/usr/bin/python3 -c pass")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("value  ------------- Distribution ------------- count", result.stdout)
        counts = [int(n) for n in re.findall(r"\| *@* +(\d+) *$", result.stdout, re.M)]
        self.assertGreater(sum(counts), 300, result.stdout)

    def test_slow_calls_of_python(self):
        """Whole lines, each of a slow call: nothing of the others is printed. On one CPU, since the parts of a call that moves to
        another are committed apart."""
        self.stay_on_one_cpu()
        result = dvm("run", example("slow-calls.d"), "-c", "/usr/bin/python3 -c pass")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = result.stdout.split("\n")
        self.assertEqual(lines[-2:], ["", ""])
        for line in lines[:-2]:
            found = re.fullmatch(r"malloc\(\d+\) = 0x[0-9a-f]+ after (\d+) us", line)
            self.assertIsNotNone(found, line)
            self.assertGreaterEqual(int(found[1]), 10)

    def test_function_counts_of_bash(self):
        result = dvm("run", example("function-counts.d"), "-c", "bash -c 'for i in 1 2 3; do :; done'")
        self.assertEqual(result.returncode, 0, result.stderr)
        rows = dict(re.findall(r"^  (\S+) +(\d+)$", result.stdout, re.M))
        self.assertEqual(len(rows), 20, result.stdout)

    def test_bash_attaches_and_detaches_with_a_second_of_cpu_time(self):
        shell = subprocess.Popen(["bash", "-c", "while :; do sleep 0.05; done"])
        try:
            before = dvmtest.cpu_time_of_children()
            result = dvm("run", "-n", "pid$target:bash::entry { @[probefunc] = count(); } tick-1 { exit(0); }", "-p", str(shell.pid))
            taken = dvmtest.cpu_time_of_children() - before
            matched = int(re.search(r"matched (\d+) probes", result.stderr).group(1))
            self.assertGreater(matched, 1500, result.stderr)
            self.assertLess(taken, 1 if not SANITIZED else 20)
        finally:
            shell.kill()
            shell.wait()

    def test_latency_pairs_entry_and_return(self):
        result = dvm("run", example("latency.d"), "-c", "/usr/bin/python3 -c pass")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("ns in malloc", result.stdout)
        self.assertNotIn("-1 |@", result.stdout)

    def test_threads_add_up(self):
        result = dvm("run", example("threads.d"), "-c", f"{program('threads')} 4 10000")
        self.assertEqual(result.returncode, 0, result.stderr)
        ours = dict(re.findall(r"^thread (\d+): (\d+) calls$", result.stdout, re.M))
        theirs = dict(re.findall(r"^(\d+) (\d+)$", result.stdout, re.M))
        self.assertEqual(len(theirs), 4, result.stdout)
        self.assertEqual(ours, theirs)
        self.assertIn("all: 40000 calls", result.stdout)


class Kubernetes(dvmtest.PrivilegedTest):
    """The job for a cluster, as far as one machine can run it: its command on two "nodes", and the merged logs."""

    def test_its_command_gives_results_that_merge(self):
        try:
            import yaml
        except ImportError:
            dvmtest.skip_or_fail(self, "no module yaml for python")
        job = yaml.safe_load((dvmtest.ROOT / "examples/kubernetes/job.yaml").read_text())
        self.assertEqual((job["apiVersion"], job["kind"]), ("batch/v1", "Job"))
        self.assertEqual(job["spec"]["completions"], job["spec"]["parallelism"])
        pod = job["spec"]["template"]["spec"]
        self.assertTrue(pod["hostPID"] and pod["containers"][0]["securityContext"]["privileged"])
        spread = pod["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"]
        self.assertEqual(spread, job["spec"]["template"]["metadata"]["labels"])
        name, *words = pod["containers"][0]["command"]
        self.assertEqual(name, "dvm")
        words = [word.replace("tick-10s", "tick-500ms") for word in words]
        with tempfile.TemporaryDirectory() as folder:
            paths = [f"{folder}/{node}.json" for node in ("one", "two")]
            for path in paths:
                with open(path, "w") as log:
                    run = subprocess.run([dvmtest.DVM, *words], stdout=log, stderr=log, env=dvmtest.ENV, timeout=60)
                self.assertEqual(run.returncode, 0)
            merged = dvm("merge", *paths)
        self.assertEqual(merged.returncode, 0, merged.stderr)
        self.assertIn('"name":"calls"', merged.stdout)
        self.assertIn('"name":"programs"', merged.stdout)


if __name__ == "__main__":
    unittest.main()
