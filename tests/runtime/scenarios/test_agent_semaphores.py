"""An agent raises the semaphores of markers, and whoever takes its probes off lowers them: dvm, its guard, or `dvm detach`."""

import os
import pathlib
import random
import shutil
import signal
import subprocess
import time
import unittest

import dvmtest
from dvmtest import DVM, ENV, program
from scenarios.test_agent import CYCLES, NOBODY, PATIENCE, AgentTest, guards_of

TURNS = "counted$target:a.out:{}:turn {{ @ = count(); }}"
BOTH, FIRST, SECOND = TURNS.format(""), TURNS.format("first_turn"), TURNS.format("second_turn")
LIBRARY = "libsemaphores_library.so"
AS_NOBODY = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all")
MOST = 32767


class SemaphoreTest(AgentTest):
    prefix = ()

    def setUp(self):
        super().setUp()
        self.dvm, self.program = DVM, program("semaphores")
        if not os.path.exists(self.program):
            dvmtest.skip_or_fail(self, "<sys/sdt.h> is not installed (systemtap-sdt-dev)")
        self.prepare()
        self.target = self.start_program()

    def prepare(self):
        pass

    def start_program(self):
        target = subprocess.Popen([*self.prefix, self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.addCleanup(target.communicate)
        self.assertEqual(target.stdout.readline(), "ready\n")
        return target

    def ask(self, command="count", target=None):
        target = target or self.target
        target.stdin.write(command + "\n")
        return int(target.stdout.readline())

    def trace(self, text=BOTH, *options, backend="agent"):
        options = ["-x", f"backend={backend}", *options, "-p", str(self.target.pid)]
        return dvmtest.start_tracer(self, text, *options, command=(*self.prefix, self.dvm))

    def run_dvm(self, *args, **options):
        return subprocess.run([*self.prefix, self.dvm, *args], capture_output=True, text=True, timeout=PATIENCE, env=ENV, **options)

    def end(self, tracer):
        tracer.terminate()
        tracer.wait(timeout=PATIENCE)

    def kill_with_guard(self, tracer):
        for guard in guards_of(self.target.pid):
            os.kill(guard, signal.SIGKILL)
        tracer.kill()
        tracer.wait()

    def detach(self):
        detached = dvmtest.dvm("detach", "-p", str(self.target.pid))
        self.assertEqual((detached.returncode, detached.stderr), (0, ""))


class Semaphores(SemaphoreTest):
    def test_are_up_while_their_probes_are_on(self):
        tracer = self.trace()
        self.assertEqual(self.ask(), 2)
        self.end(tracer)
        self.assertEqual(self.ask(), 0)
        self.assertEqual((tracer.stdout.read().split(), tracer.stderr.read()), (["2"], ""))

    def test_are_down_when_dvm_is_killed(self):
        self.trace().kill()
        self.assertTrue(dvmtest.eventually(lambda: self.ask() == 0))

    def test_are_down_after_a_detach_when_the_guard_is_killed_too(self):
        self.kill_with_guard(self.trace())
        self.assertEqual(self.ask(), 2)
        self.detach()
        self.assertEqual(self.ask(), 0)
        self.detach()
        self.assertEqual(self.ask(), 0)

    def test_are_down_again_whenever_dvm_is_killed(self):
        chance = random.Random(7)
        for step in range(CYCLES):
            command = [DVM, "run", "-q", "-x", "backend=agent", "-n", BOTH, "-p", str(self.target.pid)]
            tracer = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENV)
            time.sleep(chance.uniform(0, 0.4))
            if step % 2 == 0:
                self.kill_with_guard(tracer)
                self.assertTrue(dvmtest.eventually(lambda: dvmtest.dvm("detach", "-p", str(self.target.pid)).returncode == 0))
            tracer.kill()
            tracer.wait()
            self.assertTrue(dvmtest.eventually(lambda: self.ask() == 0), f"step {step}")

    def test_are_counted_by_every_tracer(self):
        first, second = self.trace(FIRST), self.trace(SECOND)
        self.assertEqual(self.ask(), 2)
        self.end(first)
        self.assertEqual(self.ask(), 1)
        self.end(second)
        self.assertEqual(self.ask(), 0)

    def test_are_raised_once_for_a_place(self):
        """A second tracer finds its place taken."""
        first = self.trace(FIRST)
        result = dvmtest.dvm("run", "-q", "-x", "backend=agent", "-n", FIRST, "-p", str(self.target.pid))
        self.assertIn("another", result.stderr)
        self.assertEqual(self.ask(), 1)
        self.end(first)
        self.assertEqual(self.ask(), 0)

    def test_are_counted_beside_those_of_uprobes(self):
        if why := dvmtest.missing_privilege():
            dvmtest.skip_or_fail(self, why)
        for ends in ("agent", "uprobe"):
            with self.subTest(ends + " first"):
                tracers = {"agent": self.trace(FIRST), "uprobe": self.trace(SECOND, backend="uprobe")}
                both = self.ask()  # the kernel raises it for each mapping of the code
                self.assertGreaterEqual(both, 2)
                self.end(tracers.pop(ends))
                left = self.ask()
                self.assertEqual(left, both - 1 if ends == "agent" else 1)
                self.end(*tracers.values())
                self.assertEqual(self.ask(), 0)

    def test_never_fall_below_zero(self):
        tracer = self.trace()
        self.assertEqual(self.ask("set 1"), 1)
        self.end(tracer)
        self.assertEqual(self.ask(), 0)

    def test_in_memory_that_the_program_cannot_write_are_refused(self):
        result = dvmtest.dvm("list", "-v", "-x", "backend=agent", "counted$target:::fixed", "-p", str(self.target.pid))
        self.assertIn("its semaphore lies in memory that the program may not write", result.stdout + result.stderr)
        self.assertEqual(self.ask(), 0)


@unittest.skipIf(os.geteuid() != 0, "the other tests ran without privileges")
class Unprivileged(SemaphoreTest):
    prefix = AS_NOBODY

    def prepare(self):
        self.folder = dvmtest.own_folder(self)
        self.folder.chmod(0o755)
        self.dvm, self.program = dvmtest.copy_of_dvm(self.folder), shutil.copy(self.program, self.folder)
        self.library = shutil.copy(pathlib.Path(program(LIBRARY)), self.folder)

    def test_are_raised_in_a_program_that_dvm_starts(self):
        result = self.run_dvm("run", "-q", "-n", BOTH, "-c", self.program, input="count\ncount\n", cwd=self.folder)
        self.assertEqual((result.stdout.split(), result.stderr), (["ready", "2", "2", "4"], ""))

    def test_are_raised_again_in_libraries_that_are_opened_again(self):
        self.ask("open " + self.library)
        tracer = self.trace("counted$target:libsemaphores_library.so::library { @ = count(); }")
        for _ in range(4):
            self.assertTrue(dvmtest.eventually(lambda: self.ask("library") == 1))
            self.ask("close")
            self.ask("open " + self.library)
        self.assertTrue(dvmtest.eventually(lambda: self.ask("library") == 1))
        self.end(tracer)
        self.assertEqual(self.ask("library"), 0)

    def test_are_raised_again_in_another_program(self):
        tracer = self.trace()
        self.assertEqual(self.ask(), 2)
        self.target.stdin.write("exec\n")
        self.assertEqual(self.target.stdout.readline(), "ready\n")
        self.assertTrue(dvmtest.eventually(lambda: self.ask() == 2))
        self.end(tracer)
        self.assertEqual(self.ask(), 0)

    def test_stay_up_in_other_processes_when_a_program_executes_another(self):
        other = self.start_program()
        turns = ", ".join(f"counted{pid}:a.out::turn" for pid in (self.target.pid, other.pid))
        tracer = self.trace(turns + " { @ = count(); }", "-p", str(other.pid))
        self.assertEqual((self.ask(), self.ask(target=other)), (2, 2))
        other.stdin.write("exec\n")
        self.assertEqual(other.stdout.readline(), "ready\n")
        self.assertTrue(dvmtest.eventually(lambda: self.ask(target=other) == 2))
        self.assertEqual(self.ask(), 2)
        self.end(tracer)
        self.assertEqual((self.ask(), self.ask(target=other)), (0, 0))

    def test_at_their_limit_are_left_alone(self):
        self.assertEqual(self.ask(f"set {MOST - 1}"), MOST - 1)
        result = self.run_dvm("run", "-qv", "-n", BOTH + " tick-1ms { exit(0); }", "-p", str(self.target.pid))
        self.assertIn("its semaphore has reached its largest value", result.stderr)
        self.assertEqual(self.ask(), MOST - 1)

    def test_at_their_limit_refuse_the_other_probes_of_their_functions(self):
        """No jump stays where another way takes over."""
        self.assertEqual(self.ask(f"set {MOST}"), MOST)
        tracer = self.trace("counted$target:a.out:first_turn:turn, pid$target:a.out:first_turn:return { @ = count(); }")
        for _ in range(3):
            self.assertEqual(self.ask(), MOST)
        self.end(tracer)
        self.assertEqual(tracer.stdout.read().split(), ["3"])
        self.assertNotIn("keeps its probes", tracer.stderr.read())


class Children(SemaphoreTest):
    def test_a_forked_child_has_none_raised(self):
        tracer = self.trace()
        self.assertEqual((self.ask(), self.ask("fork"), self.ask()), (2, 0, 2))
        self.end(tracer)
        self.assertEqual((self.ask(), self.ask("fork")), (0, 0))

    def test_a_child_that_is_followed_fires(self):
        tracer = self.trace(BOTH, "-x", "followfork")
        self.assertEqual((self.ask(), self.ask("fork"), self.ask()), (2, 2, 2))
        self.end(tracer)
        self.assertEqual((self.ask(), tracer.stdout.read().split()), (0, ["5"]))


if __name__ == "__main__":
    unittest.main()
