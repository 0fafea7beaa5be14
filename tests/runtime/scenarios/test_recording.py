"""Recordings: the same events through any script, without privileges; damaged files are refused."""

import os
import pathlib
import re
import resource
import struct
import subprocess
import tempfile
import unittest
import zlib

import dvmtest
from dvmtest import dvm, program


class Recordings(dvmtest.PrivilegedTest):
    def setUp(self):
        super().setUp()
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.path = os.path.join(self.folder.name, "trace.dvm")
        result = dvm("record", "-o", self.path, "-n", "pid$target:looper:func:entry { @[copyinstr(arg0)] = count(); } pid$target:looper:func:return { trace(arg1); }",
                     "-c", program("looper") + " 1000")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_the_same_script_gives_the_same_result(self):
        result = dvm("replay", "-q", self.path, "-n", "pid$target:looper:func:entry { @[copyinstr(arg0)] = count(); }")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"hello DTrace +1000\n")

    def test_another_script_sees_the_same_events(self):
        result = dvm("replay", "-q", self.path, "-n", "pid$target:looper:func:return { @ = sum(arg1); @n = count(); @t[tid != 0, pid != 0, execname] = count(); }")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r" 12000\n")
        self.assertRegex(result.stdout, r" 1000\n")
        self.assertIn("looper", result.stdout)

    def test_probes_of_dtrace_have_their_numbers(self):
        result = dvm("replay", "-q", self.path, "-n", "1,2 { trace(id); }")
        self.assertEqual((result.returncode, result.stdout.strip()), (0, "12"), result.stderr)

    def test_firings_of_probes_beside_timers_are_recorded(self):
        path = os.path.join(self.folder.name, "beside.dvm")
        text = ('int n; tick-1s { n++; } pid$target:looper:func:entry { @ = count(); printf("%s\\n", copyinstr(arg0)); } '
                "proc:::exit { n++; }")
        run = dvm("record", "-q", "-o", path, "-n", text, "-c", program("looper") + " 500")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout.count("hello DTrace"), 500)
        self.assertEqual(dvm("replay", "-q", path, "-n", text).stdout, run.stdout[run.stdout.index("hello"):])

    def test_what_fires_after_exit_is_not_recorded(self):
        path, text = os.path.join(self.folder.name, "ended.dvm"), "pid$target:looper:func:entry /++n == 3/ { exit(4); }"
        for backend in ("agent", "uprobe"):
            run = dvm("record", "-q", "-o", path, "-x", "backend=" + backend, "-n", text, "-c", program("looper") + " 5000")
            self.assertEqual((run.returncode, run.stderr), (4, f"dvm: 3 events recorded in {path}\n"))

    def test_types_of_the_kernel_are_those_of_the_recording(self):
        text = "BEGIN { trace(sizeof (struct vmlinux`task_struct) > 1000); exit(0); }"
        self.assertEqual("1", dvm("replay", "-q", self.path, "-n", text).stdout.strip())
        other = dvm("replay", "-q", str(dvmtest.HERE / "recorded/looper.dvm"), "-n", text)
        self.assertEqual(1, other.returncode)
        self.assertIn("a recording does not keep types of the kernel, and this one is of another kernel", other.stderr)

    def test_a_probe_that_was_not_recorded_is_refused_with_advice(self):
        result = dvm("replay", "-q", self.path, "-n", "pid$target:looper:main:entry { }")
        self.assertEqual(result.returncode, 1)
        self.assertIn("hint: the recording has no such probe; dvm replay --info lists its probes", result.stderr)

    def test_ids_that_a_process_changes_are_those_of_the_event(self):
        code = 'syscall(110); syscall(106, 65534); syscall(105, 65533); syscall(110)'  # getppid, setgid, setuid
        path = os.path.join(self.folder.name, "ids.dvm")
        record = dvm("record", "-q", "-o", path, "-n", "syscall::getppid:entry /pid == $target/ { }", "-c", f"perl -e '{code}'")
        self.assertEqual(record.returncode, 0, record.stderr)
        replay = dvm("replay", "-q", path, "-n", 'syscall::getppid:entry { printf("%d %d %d\\n", uid, gid, ppid > 0); }')
        self.assertEqual(replay.stdout.split("\n")[:2], ["0 0 1", "65533 65534 1"], replay.stderr)

    def test_info_says_what_it_holds(self):
        result = dvm("replay", "--info", self.path)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn(f"recording  {self.path}, {os.path.getsize(self.path)} bytes\n", result.stdout)
        self.assertRegex(result.stdout, r"(?m)^events     2000 of 1 thread, 0 dropped$")
        self.assertRegex(result.stdout, r"(?m)^begun      \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\nduration   0\.\d{3} s$")
        target = re.search(r"(?m)^\$target    (\d+)$", result.stdout)[1]
        self.assertRegex(result.stdout, rf"(?m)^ +2000 +{target} +\d+  \S*looper( 1000)?$")
        for name in ("entry", "return"):
            self.assertRegex(result.stdout, rf"(?m)^ +1000 +\d+  pid{target}:looper:func:{name}$")
        result = dvm("replay", "--info", self.path, "script.d")
        self.assertEqual((result.returncode, result.stderr), (2, "dvm: --info runs no script\n"))
        result = dvm("replay", "--info", "/dev/null")
        self.assertEqual(result.returncode, 1)
        self.assertIn("/dev/null", result.stderr)

    def test_one_of_which_nothing_is_wanted_ends_at_once(self):
        result = dvm("replay", "-q", self.path, "-n", 'BEGIN { trace("begun"); } END { trace("ended"); }')
        self.assertEqual((result.returncode, result.stdout.strip()), (0, "begunended"), result.stderr)

    def test_begin_and_end_have_the_times_of_the_recording(self):
        text = """BEGIN { begin = timestamp; wall = walltimestamp; }
                  pid$target:looper:func:entry { @since = max(timestamp - begin); @least = min(timestamp - begin); @wall = min(walltimestamp - wall); last = timestamp; }
                  END { printf("%d %d\\n", timestamp > last, timestamp - begin < 60000000000); printa("%@d %@d %@d\\n", @since, @least, @wall); }"""
        result = dvm("replay", "-q", self.path, "-n", text)
        self.assertEqual(result.returncode, 0, result.stderr)
        times, sums = result.stdout.strip().split("\n")[:2]
        self.assertEqual(times, "1 1")
        since, least, wall = map(int, sums.split())
        self.assertGreater(since, least)
        self.assertLess(since, 60_000_000_000)
        self.assertGreater(least, 0)
        self.assertGreater(wall, 0)

    def test_replaying_twice_prints_the_same(self):
        text = "pid$target:looper:func:entry { @ = quantize(timestamp % 1000); }"
        first, second = (dvm("replay", "-q", self.path, "-n", text) for _ in range(2))
        self.assertEqual(first.stdout, second.stdout)
        self.assertIn("@", first.stdout)

    def change_cpus(self, cpu_of):
        """Has the events of the recording come from other CPUs."""
        data = bytearray(pathlib.Path(self.path).read_bytes())
        block, events = 40, 0
        while block < len(data):
            kind, length, _, count = struct.unpack_from("<4I", data, block)
            event = block + 16
            for _ in range(count if kind == 2 else 0):
                struct.pack_into("<i", data, event + 40, cpu_of(events))
                events += 1
                event += struct.unpack_from("<I", data, event)[0]
            struct.pack_into("<I", data, block + 8, zlib.crc32(data[block + 16:block + 16 + length]))
            block += 16 + length
        self.assertGreater(events, 1000)
        pathlib.Path(self.path).write_bytes(data)

    def replay_in(self, memory, text):
        """Replays with at most so much address space, which sanitizers cannot do with."""
        limit = lambda: None if dvmtest.SANITIZED else resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        return subprocess.run([dvmtest.DVM, "replay", "-q", self.path, "-n", text], capture_output=True, text=True, env=dvmtest.ENV, timeout=120,
                              preexec_fn=limit)

    def test_a_cpu_with_a_high_number_costs_no_more_than_another(self):
        self.change_cpus(lambda event: 2048)
        result = self.replay_in(2 << 30, "pid$target:looper:func:entry { @[cpu] = count(); }")
        self.assertEqual((result.returncode, result.stdout.split()), (0, ["2048", "1000"]), result.stderr)

    def test_many_cpus_share_the_memory_that_there_is(self):
        self.change_cpus(lambda event: event * 5 % 8192)
        result = self.replay_in(2 << 30, 'pid$target:looper:func:entry { trace(1); printf("\\n"); }')
        self.assertEqual((result.returncode, len(result.stdout.split()), result.stderr), (0, 1000, ""))

    def test_truncated_and_corrupted_files_are_refused(self):
        data = pathlib.Path(self.path).read_bytes()
        damaged = os.path.join(self.folder.name, "damaged")
        text = "pid$target:looper:func:entry { @ = count(); }"
        cases = [data[:n] for n in (0, 1, 7, 20, len(data) // 2, len(data) - 1)]
        cases += [data[:n] + bytes([data[n] ^ 0x40]) + data[n + 1:] for n in range(0, len(data), max(1, len(data) // 25))]
        for content in cases:
            pathlib.Path(damaged).write_bytes(content)
            result = dvm("replay", "-q", damaged, "-n", text)
            self.assertEqual(result.returncode, 1, f"{len(content)} bytes: {result.stdout}{result.stderr}")
            self.assertIn(damaged, result.stderr)

    def test_memory_that_was_not_recorded_is_a_fault(self):
        result = dvm("replay", "-q", self.path, "-n", "pid$target:looper:func:entry { @[copyinstr(arg0 + 1000000)] = count(); }")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stderr, r"invalid address \(0x[0-9a-f]+\)")

    def test_what_the_recording_lacks_is_said_once(self):
        probe = "pid$target:looper:func:entry"
        lacks = {"@[ustack()] = count();": "no user stack for 1000 firings: ustack() is empty there",
                 "@[ucaller] = count();": "no user stack for 1000 firings",
                 "@ = sum(vtimestamp);": "no CPU time for 1000 firings: vtimestamp is 0 there",
                 "@ = sum(uregs[R_RIP]);": "no registers for 1000 firings: uregs[] is a fault there",
                 "@ = count();": ""}
        path = os.path.join(self.folder.name, "plain.dvm")
        run = dvm("record", "-q", "-o", path, "-n", probe + " { @ = count(); }", "-c", program("looper") + " 1000")
        self.assertEqual(run.returncode, 0, run.stderr)
        for action, said in lacks.items():
            replay = dvm("replay", "-q", path, "-n", f"{probe} {{ {action} }}")
            notes = [line for line in replay.stderr.splitlines() if "the recording has" in line]
            self.assertEqual(len(notes), 1 if said else 0, replay.stderr)
            self.assertIn(said, replay.stderr)
            asked = os.path.join(self.folder.name, "asked.dvm")
            run = dvm("record", "-q", "-o", asked, "-n", f"{probe} {{ {action} }}", "-c", program("looper") + " 1000")
            self.assertEqual(run.returncode, 0, run.stderr)
            if "uregs" not in action:
                self.assertEqual(dvm("replay", "-q", asked, "-n", f"{probe} {{ {action} }}").stderr, "")

    def test_late_reads_stacks_and_names_are_as_in_the_run(self):
        script = os.path.join(self.folder.name, "late.d")
        pathlib.Path(script).write_text("""#pragma D option quiet
            #pragma D option ustackunwind=0
            pid$target:looper:func:entry
            {
                /* no address of these can be foreseen */
                printf("%s %s %d", copyinstr((arg0 ^ 1) ^ 1), stringof(copyin((arg0 ^ 1) ^ 1, 4)), *(char *)((arg0 ^ 1) ^ 1));
                ustack(5); usym(ucaller); ufunc(ucaller); uaddr(arg0); umod(arg0);
                printf("%s %d %d\\n", curpsinfo->pr_psargs, uid, ppid);
                @[ustack(2), ufunc(ucaller)] = count();
            }
            pid$target:looper:func:entry /++n == 20/ { exit(0); }
            """)
        path = os.path.join(self.folder.name, "late.dvm")
        run = dvm("record", "-o", path, "-s", script, "-c", program("looper") + " 100000000")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("hello DTrace hell 104", run.stdout)
        self.assertIn("looper`main+0x", run.stdout)
        replay = dvm("replay", path, "-s", script)
        self.assertEqual(replay.stdout, run.stdout)
        self.assertRegex(replay.stderr, r"(?m)^dvm: \d+ values were read after their firing")

    def test_types_and_variables_are_taken_from_the_recorded_files(self):
        script = "pid$target:types_separate:visit:entry { printf(\"%d %s\", args[0]->next->value, stringof(args[0]->name)); }"
        path = os.path.join(self.folder.name, "types.dvm")
        run = dvm("record", "-q", "-o", path, "-n", script, "-c", program("types_separate"))
        self.assertEqual(run.returncode, 0, run.stderr)
        replay = dvm("replay", "-q", path, "-n", script)
        self.assertEqual((replay.returncode, replay.stdout.strip()), (0, "-5 first"), replay.stderr)

    def test_clauses_of_an_agent_and_of_uprobes_run_in_the_order_of_their_firings(self):
        script = "self int calls; pid$target:varied:text:return { self->calls++; } pid$target:varied:number:4 { @[self->calls] = count(); }"
        path = os.path.join(self.folder.name, "two.dvm")
        run = dvm("record", "-q", "-x", "backend=agent", "-x", "aggsortkey", "-o", path, "-n", script, "-c", program("varied") + " 1000 4")
        replay = dvm("replay", "-q", "-x", "aggsortkey", path, "-n", script)
        # Each of four threads calls number() twice a round, and in some in a signal handler behind text().
        expected = {(str(calls), "12" if calls % 10 == 4 else "8") for calls in range(1000)}
        for result in (run, replay):
            wrong = expected ^ set(re.findall(r"(?m)^ +(\d+) +(\d+)$", result.stdout))
            self.assertEqual(sorted(wrong)[:5], [], result.stderr)

    def test_markers_with_arguments_in_vector_registers(self):
        """Uprobes cannot read these, and a script that does not ask for them records the firings."""
        path = os.path.join(self.folder.name, "vectors.dvm")
        script = "dvmtest$target:::vectors, dvmtest$target:::constants { @[probename] = count(); }"
        run = dvm("record", "-q", "-x", "backend=uprobe", "-o", path, "-n", script, "-c", program("markers_O0") + " 2")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertNotIn("left out", run.stderr)
        self.assertEqual(sorted(run.stdout.split()), ["2", "2", "constants", "vectors"])
        self.assertEqual(dvm("replay", "-q", path, "-n", script).stdout, run.stdout)
        for argument, expected in (("arg0", ""), ("arg1", "12")):
            replayed = dvm("replay", "-q", path, "-n", f"dvmtest$target:::vectors {{ printf(\"%d\", {argument}); }} tick-1h {{ }}")
            self.assertEqual((replayed.stdout.strip(), "left out" in replayed.stderr), (expected, not expected), replayed.stderr)

    def test_arguments_that_cannot_be_read_are_not_replayed(self):
        path = os.path.join(self.folder.name, "numbers.dvm")
        self.assertEqual(dvm("record", "-q", "-o", path, "-n", "dvmtest$target:::numbers", "-c", program("markers_O0") + " 2").returncode, 0)
        refused = dvm("replay", "-q", path, "-n", "dvmtest$target:::numbers { trace(arg3); }")
        self.assertEqual((refused.returncode, refused.stdout), (1, ""))
        self.assertIn("a clause reads arg3, which cannot be read, and the recording does not have it", refused.stderr)
        self.assertEqual(dvm("replay", "-q", path, "-n", 'dvmtest$target:::numbers { printf("%d", arg1); }').stdout.strip(), "12")

    def test_an_unfinished_recording_leaves_no_file(self):
        path = os.path.join(self.folder.name, "none.dvm")
        dvm("record", "-o", path, "-n", "nosuch:::probe", "-c", program("looper") + " 1")
        self.assertEqual(os.listdir(self.folder.name), ["trace.dvm"])


if __name__ == "__main__":
    unittest.main()
