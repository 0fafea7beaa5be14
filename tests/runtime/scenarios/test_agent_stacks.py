"""Stacks as keys that a traced thread finds by frame pointers: the same as by uprobes, and harmless whatever a pointer holds."""

import re
import unittest

import dvmtest
from dvmtest import program
from scenarios.test_agent import AgentTest
from scenarios.test_agent_keys import IN_THREAD

CALLS, ROUNDS = 3 * 43, 10000  # of bottom(); by each of two threads with pointers that lead nowhere
NOWHERE = 20  # what it is called with then


class Stacks(AgentTest):
    PROGRAM = program("frames")
    rounds = ROUNDS

    def run_by(self, backend, body, *options, probe="entry"):
        """The result, and what dvm has printed: apart from the line of the program, which may come before or after any row."""
        options = options or ("-x", "ustackunwind=0", "-x", "return=exits")
        rows = dvmtest.own_folder(self) / "rows"
        result = dvmtest.dvm("run", "-qv", "-o", str(rows), "-x", f"backend={backend}", "-x", "aggsortkey", *options, "-n", f"pid$target:a.out:bottom:{probe} {body}",
                             "-c", f"{self.PROGRAM} {self.rounds}")
        self.assertEqual(result.stdout, "0 faults\n", result.stderr)
        return result, rows.read_text()

    def counts(self, rows):
        return [int(line.split()[-1]) for line in rows.splitlines() if re.search(r"^ +\d+$", line)]

    def test_frames_of_each_stack(self):
        for kind in (1, 2, 3):
            with self.subTest(kind):
                result, rows = self.run_by("agent", f"/arg0 == {kind}/ {{ @[ustack()] = count(); }}")
                self.assertIn(IN_THREAD, result.stderr)
                stacks = sorted(" ".join(re.findall(r"`(\w+)", stack)) for stack in re.split(r"\n +\d+\n", rows))
                self.assertEqual([stack for stack in stacks if stack], sorted(
                    ["bottom middle enter", "bottom middle top enter"] + ["bottom " + n * "deep " + "enter" for n in (2, 5, 10)]))

    def test_stacks_are_those_of_uprobes(self):
        if reason := dvmtest.missing_privilege():
            dvmtest.skip_or_fail(self, reason)
        for probe, predicate in (("entry", "arg0 < 20"), ("return", "arg1 < 20")):
            for body in ("{ @[ustack()] = count(); }", "{ @[ustack(1)] = count(); }", "{ @[ustack(2)] = count(); }", "{ @[ustack(3), ustack(2)] = count(); }",
                         "{ @[arg1 & 1, ustack(4), probefunc, tid == pid] = sum(arg1); @n[ustack(5)] = quantize(arg1); }"):
                with self.subTest(body, probe=probe):
                    here, there = (self.run_by(backend, f"/{predicate}/ {body}", probe=probe) for backend in ("agent", "uprobe"))
                    self.assertIn(IN_THREAD, here[0].stderr)
                    self.assertEqual(here[1], there[1])

    def test_stacks_in_records_are_those_of_uprobes(self):
        if reason := dvmtest.missing_privilege():
            dvmtest.skip_or_fail(self, reason)
        for probe, predicate in (("entry", "arg0 < 20"), ("return", "arg1 < 20")):
            for body in ("{ ustack(); }", "{ ustack(3); }", "{ n[0]++; @[ustack()] = count(); }", "{ n[0]++; @[ustack(4)] = count(); }"):
                with self.subTest(body, probe=probe):
                    here, there = (self.run_by(backend, f"/{predicate}/ {body}", probe=probe) for backend in ("agent", "uprobe"))
                    self.assertNotIn(IN_THREAD, here[0].stderr)
                    self.assertIn("`middle", here[1])
                    self.assertEqual(here[1], there[1])

    def test_records_of_stacks_wait_for_dvm(self):
        """The ring holds the records of one second, 20,000 firings."""
        script = f'pid$target:a.out:bottom:entry /!n++/ {{ system("sleep 1"); }} pid$target:a.out:bottom:entry /arg0 < {NOWHERE}/ {{ @[ustack()] = count(); }}'
        for backend in ("agent", "uprobe")[:1 if dvmtest.missing_privilege() else 2]:
            with self.subTest(backend):
                result = dvmtest.dvm("run", "-qw", "-x", f"backend={backend}", "-x", "ustackunwind=0", "-x", "switchrate=1ms", "-n", script, "-c", f"{self.PROGRAM} {ROUNDS}")
                self.assertEqual((result.stderr, self.counts(result.stdout)), ("", [3] * 5))

    def test_no_frame_pointer_does_harm_to_records(self):
        for body in ("{ n[0]++; @[ustack()] = count(); }", "{ n[0]++; @[ustack(3)] = count(); }"):
            result, rows = self.run_by("agent", body)
            self.assertNotIn(IN_THREAD, result.stderr)
            self.assertEqual(sum(self.counts(rows)), CALLS + 2 * ROUNDS)

    def test_no_frame_pointer_does_harm(self):
        for body in ("{ @[ustack()] = count(); }", "{ @[ustack(3)] = count(); }"):
            result, rows = self.run_by("agent", body)
            self.assertIn(IN_THREAD, result.stderr)
            self.assertEqual(sum(self.counts(rows)), CALLS + 2 * ROUNDS)

    def test_nor_where_dvm_has_found_the_stack_of_the_thread(self):
        self.rounds = 300000
        result, rows = self.run_by("agent", "{ @[ustack()] = count(); }")
        self.assertEqual(sum(self.counts(rows)), CALLS + 2 * self.rounds, result.stderr)

    def test_call_frame_information_needs_dvm(self):
        result, _ = self.run_by("agent", "{ @[ustack(3)] = count(); }", "-x", "ustackunwind=4k")
        self.assertIn("not in the traced thread: a clause of the probe has a stack that is found by call frame information", result.stderr)
        result, _ = self.run_by("agent", "{ @[ustack(2)] = count(); }", "-x", "ustackunwind=4k")
        self.assertIn(IN_THREAD, result.stderr)


if __name__ == "__main__":
    unittest.main()
