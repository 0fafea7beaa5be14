"""Clauses in the traced thread that read global variables: dvm writes these, the threads read them."""

import os
import subprocess
import unittest

import dvmtest
from dvmtest import program
from scenarios.test_agent import LIBRARY, AgentTest

ENTRY = "pid$target:a.out:deep:entry "  # called with 10000 to 0


class Globals(AgentTest):
    KINDS = ["char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "int64_t", "uint64_t"]

    def compare(self, script, *arguments):
        run = ["run", "-qv", "-x", "aggsortkey", "-c", program("returns"), "-n", script, *arguments, "-x"]
        here = dvmtest.dvm(*run, "backend=agent")
        self.assertIn("(agent, in the traced thread)", here.stderr)
        if os.geteuid() == 0:
            self.assertEqual(here.stdout, dvmtest.dvm(*run, "backend=uprobe").stdout)
        return here.stdout

    def test_values_of_begin_are_those_of_uprobes(self):
        self.compare(f"BEGIN {{ limit = 9990; }} {ENTRY}/arg0 > limit/ {{ @[arg0] = count(); }}")
        self.compare(f"int unset; {ENTRY}/!unset && arg0 < $1/ {{ @[arg0, unset] = sum(arg0 - unset); }}", "7")
        self.compare(f"inline int most = 5; BEGIN {{ on = 1; }} {ENTRY}/on && arg0 < most/ {{ self->n += on; @[self->n, on] = count(); }}")
        for value in ("-3", "0x1234567890abcdef"):
            names = [(f"g{i}", kind) for i, kind in enumerate(self.KINDS)]
            script = "".join(f"{kind} {name}; " for name, kind in names) + "BEGIN { " + "".join(f"{name} = {value}; " for name, _ in names) + "} "
            with self.subTest(value):
                self.compare(script + "".join(f"{ENTRY}/arg0 < 3/ {{ @[{name}, {name} < 0, {name} + arg0] = sum({name}); }} ".replace("@[", f"@of_{name}[") for name, _ in names))

    def test_children_read_them_too(self):
        script = "BEGIN { least = 1; } pid$target:forks:work:entry /arg0 >= least/ { @[arg0] = count(); }"
        run = ["run", "-qv", "-x", "followfork", "-x", "aggsortkey", "-n", script, "-c", program("forks") + " 3", "-x"]
        here = dvmtest.dvm(*run, "backend=agent")
        self.assertIn("(agent, in the traced thread)", here.stderr)
        if os.geteuid() == 0:
            self.assertEqual(here.stdout, dvmtest.dvm(*run, "backend=uprobe").stdout)

    def test_a_timer_changes_them(self):
        script = "tick-10ms { phase++; } pid$target:looper:func:entry { @[phase] = count(); }"
        result = dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-x", "aggsortkey", "-n", script, "-c", program("looper") + " 3000000")
        self.assertIn("(agent, in the traced thread)", result.stderr)
        pairs = [[int(word) for word in line.split()] for line in result.stdout.splitlines() if line.split()[1:] and line.split()[0].isdigit()]
        self.assertEqual(sum(count for _, count in pairs), 3000000)
        phases = [phase for phase, _ in pairs]
        self.assertEqual(phases, sorted(phases))

    def test_several_processes_read_them(self):
        targets = []
        for _ in range(2):
            target = subprocess.Popen([program("torture"), LIBRARY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            self.addCleanup(target.communicate)
            self.addCleanup(target.kill)
            self.assertEqual(target.stdout.readline(), "ready\n")
            targets.append(target.pid)
        probes = ", ".join(f"pid{pid}:torture:fibonacci:entry" for pid in targets)
        result = dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-n", f"tick-50ms {{ on = 1; }} {probes} /on/ {{ @[pid] = count(); }} tick-1s {{ exit(0); }}")
        self.assertIn("(agent, in the traced thread)", result.stderr)
        for pid in targets:
            self.assertRegex(result.stdout, rf"(?m)^ +{pid} +[1-9]")

    def test_what_threads_write_stays_in_dvm(self):
        for other in ("{ n = arg0; } " + ENTRY, "{ @c = count(); } pid$target:a.out:*:return { n++; } " + ENTRY, "{ printf(\"%d\", n++); } " + ENTRY):
            with self.subTest(other):
                result = dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-n", f"{ENTRY}{other}/n < 5/ {{ @[n] = count(); }}", "-c", program("returns"))
                self.assertNotIn("(agent, in the traced thread)", result.stderr)
                self.assertIn("uses a global variable that threads may change", result.stderr)


if __name__ == "__main__":
    unittest.main()
