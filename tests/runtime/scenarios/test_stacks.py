"""ustack() of programs that keep no frame pointers: callers are found by the call frame information of the files."""

import pathlib
import re
import unittest

import dvmtest
from dvmtest import dvm, program


class Stacks(dvmtest.PrivilegedTest):
    def stacks(self, name, *options, probe="bottom:entry"):
        """The functions of each stack, the innermost first."""
        result = dvm("run", "-q", *options, "-n", f'pid$target:{name}:{probe} {{ ustack(); printf("--\\n"); }}', "-c", program(name))
        self.assertEqual(result.returncode, 0, result.stderr)
        return [re.findall(r"`([\w.]+)", stack) for stack in result.stdout.split("--\n")[:-1]]

    def assert_in_order(self, functions, *expected):
        rest = iter(functions)
        for name in expected:
            self.assertIn(name, rest, functions)

    def test_through_the_library_a_signal_and_a_realigned_frame(self):
        stacks = self.stacks("unwound", "-x", "ustackunwind=32k")  # room for a signal's frame, which holds all vector registers
        self.assertEqual(len(stacks), 4)
        for functions in stacks[:2]:
            self.assert_in_order(functions, "bottom", "compare", "sort", "main")
        self.assert_in_order(stacks[2], "bottom", "handler", "interrupted", "main")
        self.assertEqual(stacks[3][:3], ["bottom", "realigned", "main"])

    def test_at_a_return_the_function_is_the_first(self):
        stacks = self.stacks("unwound", probe="bottom:return")
        self.assertEqual(stacks[3][:3], ["bottom", "realigned", "main"])

    def test_a_function_that_calls_itself_is_its_own_caller(self):
        for backend in ("uprobe", "agent"):
            for name in ("entry", "return"):  # nest(0) to nest(4)
                stacks = self.stacks("varied", "-x", "ustackunwind=0", "-x", "backend=" + backend, probe="nest:" + name)
                expected = [depth for calls in range(1, 6) for depth in range(1, calls + 1)]
                self.assertEqual(sorted(functions.count("nest") for functions in stacks), sorted(expected * 10), (backend, name))

    def test_a_context_begins_where_it_was_made(self):
        for stack in (("-x", "ustackunwind=1k"), ("-x", "ustackunwind=16k")):
            functions = self.stacks("frames", *stack, probe="enter_all:entry")[2]
            self.assertEqual(functions, ["enter_all", "run_context", "__start_context"])

    def test_no_more_than_is_captured(self):
        whole, part = self.stacks("stacks_bare"), self.stacks("stacks_bare", "-x", "ustackunwind=1")
        result = dvm("run", "-q", "-x", "ustackunwind=1", "-n", "pid$target:stacks_bare:bottom:entry { ustack(); }", "-c", program("stacks_bare"))
        # By chance of where the stack begins, the little that is captured may hold all frames.
        are_cut = result.stdout.count("`_start") < result.stdout.count("`bottom")
        note = r"^dvm: \d+ stacks? (is|are) cut, because too little of (it|them) was captured; " if are_cut else r"^$"
        self.assertRegex(result.stderr, note)
        self.assertEqual(whole[-1][:8], ["bottom"] + ["deep"] * 6 + ["main"])
        self.assertTrue(all(functions[:1] == ["bottom"] for functions in part))
        self.assertLessEqual(len(part[-1]), len(whole[-1]))

    def test_cut_stacks_are_reported_however_they_are_captured(self):
        for backend, more in (("uprobe", "16k"), ("agent", "16k"), ("breakpoint", "32k")):
            for action in ("@[ustack(40)] = count();", "@ = max(ustackdepth);"):
                words = ["run", "-q", "-x", f"backend={backend}", "-n", f"pid$target:stacks_large:bottom:entry {{ {action} }}",
                         "-c", program("stacks_large")]
                cut, whole = dvm(*words), dvm(*words, "-x", "ustackunwind=64k")
                notes = [re.sub(r"dvm: without BPF, .*\n", "", result.stderr) for result in (cut, whole)]
                self.assertEqual(notes, ["dvm: 3 stacks are cut, because too little of them was captured; "
                                 f"-x ustackunwind={more} captures more (64k at most)\n", ""], words)
                depths = [result.stdout.count("`") or int(result.stdout) for result in (cut, whole)]
                self.assertLess(depths[0], depths[1], words)
                self.assertGreaterEqual(depths[1], 24, words)

    def test_a_stack_that_no_clause_asks_for_is_not_walked(self):
        script = ("BEGIN { self->never = 0; } pid$target:stacks_bare:bottom:entry /self->never/ { ustack(); } "
                  "pid$target:stacks_bare:bottom:entry { @ = count(); }")
        result = dvm("run", "-q", "-x", "ustackunwind=1", "-n", script, "-c", program("stacks_bare"))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertGreater(int(result.stdout), 0)

    def test_a_variable_keeps_the_stack_of_its_firing(self):
        script = ('pid$target:looper:func:entry { self->at = ustack(2); at[arg0] = self->at; @now[ustack(2)] = count(); } '
                  'pid$target:looper:func:return { this->at = self->at; @kept[this->at] = count(); self->at = 0; } '
                  'proc:::exit /pid == $target/ { printf("%k\\n", at[1]); } END { printa("now%k%@d\\n", @now); printa("kept%k%@d\\n", @kept); }')
        for backend in ("uprobe", "agent", "breakpoint"):
            result = dvm("run", "-q", "-x", f"backend={backend}", "-n", script, "-c", program("looper") + " 10")
            self.assertEqual(result.returncode, 0, result.stderr)
            now, kept = re.findall(r"(?m)^(?:now|kept)\n( *looper`func\n *looper`main\+0x[0-9a-f]+\n10)$", result.stdout)
            self.assertEqual(now, kept, backend)

    def test_a_stack_that_no_variable_keeps_is_empty(self):
        result = dvm("run", "-q", "-n", 'BEGIN { self->at = ustack(3); self->at = 0; at[2] = ustack(1); printf("[%k]\\n", self->at); @[at[1]] = count(); exit(0); }')
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"^\[\n?\]\n\n+ +1\n")

    def test_programs_with_frame_pointers_are_unwound_when_asked(self):
        stacks = self.stacks("stacks", "-x", "ustackunwind=8k")
        self.assertEqual([functions[:functions.index("main")] for functions in stacks][:4], [["bottom", "middle", "top"]] * 3 + [["bottom", "middle"]])

    def test_each_function_is_unwound_as_it_was_built(self):
        through_both, through_library, deep = self.stacks("mixed")
        self.assertEqual(through_both[:5], ["bottom", "kept_inner", "bare_inner", "bare_middle", "main"])
        self.assert_in_order(through_library, "bottom", "compare", "sort", "main")
        self.assertEqual(deep[:23], ["bottom"] + ["deep"] * 21 + ["main"])  # more than 10 KB

    def test_two_frames_need_a_walk_where_no_function_is_entered(self):
        stacks = self.sampled("syscall::write:entry /pid == $target/ { @[ustack(2)] = count(); }")
        self.assertEqual({stack for stack in stacks if stack}, {"write<report"})
        stacks = self.sampled("profile-997 /pid == $target/ { @[ustack(2)] = count(); }")
        self.assertIn("compare<msort_with_tmp.part.0", stacks)

    RESTS = "nanosleep<rest<main<__libc_start_call_main<__libc_start_main<_start"

    def test_events_of_any_process_find_callers(self):
        self.assert_some_rests('sched:::off-cpu /execname == "unwound_loop"/ { @[ustack()] = count(); }')

    def test_a_thread_that_gets_the_cpu_has_a_stack_if_a_tracepoint_fires_in_it(self):
        clause = 'sched:::on-cpu /execname == "unwound_loop"/ { @[ustack()] = count(); }'
        if b"sched_exit_tp" in pathlib.Path("/sys/kernel/btf/vmlinux").read_bytes():
            self.assert_some_rests(clause)
        else:
            self.assertEqual("".join(self.sampled(clause)), "")

    def assert_some_rests(self, clause):
        stacks = []
        for _ in range(5):  # a process that ends at once takes the stack of its only rest along
            stacks += self.sampled(clause)
            if any(stack.endswith(self.RESTS) for stack in stacks):
                return
        self.fail(stacks)

    def sampled(self, clause, name="unwound_loop"):
        """Lines of stacks, each of its functions joined by <, that a clause of aggregated stacks has printed."""
        result = dvm("run", "-q", "-n", clause, "-c", program(name))
        self.assertEqual(result.returncode, 0, result.stderr)
        return ["<".join(re.findall(r"`([\w.]+)", stack)) for stack in re.split(r"\n +\d+\n", result.stdout)]

    def test_a_timer_finds_callers_behind_the_library(self):
        stacks = self.sampled("profile-997 /pid == $target/ { @[ustack()] = count() }")
        self.assertTrue(any(re.search("compare.*<sort_it<.*main", stack) for stack in stacks), stacks)

    def test_so_does_a_system_call(self):
        stacks = self.sampled("syscall::write:entry /pid == $target/ { @[ustack()] = count() }")
        self.assertTrue(any(re.search("write<.*report<main", stack) for stack in stacks), stacks)

    def test_what_runs_in_no_process_has_no_stack(self):
        result = dvm("run", "-q", "-x", "ustackunwind=1k", "-n", "profile-997 /pid == 0/ { ustack(); } tick-500ms { exit(0); }")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotRegex(result.stdout, "`|0x")


if __name__ == "__main__":
    unittest.main()
