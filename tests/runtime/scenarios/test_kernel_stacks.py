"""stack(), func(), sym(), mod(), %a, caller and stackdepth in the kernel: at system calls, tracepoints and profile-N; recorded too."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import dvmtest
from dvmtest import dvm, program

FRAME = re.compile(r"^ *\w+`([\w.]+)(\+0x[0-9a-f]+)?$")
# Its system calls are those of one process, and many.
CALLS = ["-c", "dd if=/dev/zero of=/dev/null bs=1 count=200000 status=none"]


def frames(text):
    """The functions of the frames in a text, innermost first."""
    return [found[1] for found in map(FRAME.match, text.splitlines()) if found]


class KernelStacks(dvmtest.PrivilegedTest):
    def run_script(self, script, *further):
        result = dvm("run", "-q", "-n", script, *(further or ("-c", "cat /dev/null")))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def test_a_system_call_shows_the_way_into_the_kernel(self):
        for name in ("entry", "return"):
            text = self.run_script("syscall::close:%s /pid == $target/ { printf(\"%%d %%a\", stackdepth, caller); stack(); exit(0); }" % name)
            first, *lines = text.splitlines()
            functions = frames("\n".join(lines))
            self.assertEqual(len(functions), int(first.split()[0]), text)
            self.assertEqual(lines[1].strip(), first.split()[1], text)
            self.assertIn("do_syscall_64", functions)
            self.assertFalse([one for one in functions if "bpf" in one or "traceiter" in one], text)

    def test_frames_can_be_limited(self):
        text = self.run_script("syscall::close:entry /pid == $target/ { stack(2); exit(0); }")
        self.assertEqual(len(frames(text)), 2, text)
        text = self.run_script("syscall::close:entry /pid == $target/ { stack(); exit(0); }", "-x", "stackframes=1", "-c", "cat /dev/null")
        self.assertEqual(len(frames(text)), 1, text)

    def test_a_tracepoint_begins_with_the_function_that_it_lies_in(self):
        text = self.run_script("rawtp:::sched_switch /pid == $target/ { @[stack(30)] = count(); }", "-c", "sleep 0.1")
        for functions in map(frames, re.split(r"\n +\d+\n", text)):
            if functions:
                self.assertEqual(functions[0], "__schedule")
        self.assertIn("hrtimer_nanosleep", text)

    def test_sched_probes_have_the_stack_of_the_thread_that_runs(self):
        text = self.run_script("sched:::sleep /pid == $target/ { @[stack(20)] = count(); }", "-c", "sleep 0.1")
        self.assertIn("hrtimer_nanosleep", frames(text))

    def test_a_thread_that_gets_the_cpu_has_the_stack_where_it_has_waited(self):
        text = self.run_script("""sched:::on-cpu /pid == $target/ { @[stack(20), execname] = count(); @deep = max(stackdepth); }
                                  END { printa("%k %s %@d\\n", @); printa("deep %@d\\n", @deep); }""", "-c", "sleep 0.1")
        stack = next(one for one in re.split(r" sleep \d+\n", text) if "nanosleep" in one)
        functions = frames(stack)
        self.assertNotIn("__schedule", functions)
        self.assertRegex(functions[0], "nanosleep")
        self.assertIn("do_syscall_64", functions)
        self.assertGreaterEqual(int(re.search(r"deep (\d+)", text)[1]), len(functions))
        # Conditions on the name and the number of the thread hold, and so does its process.
        own = dvmtest.own_folder(self) / "dvm-sleeps"  # of no other test
        shutil.copy("/bin/sleep", own)
        text = self.run_script('sched:::on-cpu /execname == "dvm-sleeps"/ { @[pid == $target, tid == $target, stack(2)] = count(); } '
                               'END { printa("%d %d %@d %k\\n", @); }', "-c", f"{own} 0.1")
        self.assertEqual(set(re.findall(r"(?m)^(\d \d) \d+", text)), {"1 1"}, text)

    def test_a_thread_that_gets_the_cpu_has_both_stacks(self):
        if b"sched_exit_tp" not in pathlib.Path("/sys/kernel/btf/vmlinux").read_bytes():
            self.skipTest("the kernel has no tracepoint sched_exit_tp")
        text = self.run_script("""sched:::on-cpu /pid == $target/ { @[stack(20), ustack(), execname] = count(); }
                                  END { printa("%k %k %s %@d\\n", @); }""", "-c", "sleep 0.1")
        both = next(one for one in re.split(r" sleep \d+\n", text) if "nanosleep" in one)
        self.assertRegex(both, r"(?s)vmlinux`\w*nanosleep.*libc\.so\.6`\w*nanosleep")

    def test_profile_names_what_it_interrupted(self):
        """Programs of other tracers at its system calls are code of the kernel too. Those that were loaded later have no names."""
        text = self.run_script("""profile-997 /pid == $target && arg0/ {
                   @f[func(arg0)] = count(); @s[sym(arg0)] = count(); @m[mod(arg0)] = count(); @all = count(); @deep = min(stackdepth);
                   stack(1); printf("%a\\n", arg0); }
                 END { printa("func %a %@d\\n", @f); printa("sym %a %@d\\n", @s); printa("mod %a %@d\\n", @m);
                       printa("%@d %@d\\n", @all, @deep); }""", *CALLS)
        samples, least = map(int, text.split()[-2:])
        self.assertGreater(samples, 0)
        self.assertGreater(least, 0)
        for kind in ("func", "sym"):
            named = re.findall(r"(?m)^%s (vmlinux`[\w.]+|bpf`\w+|0xffffffff[c-f]\w{7}) (\d+)$" % kind, text)
            self.assertEqual(sum(int(count) for _, count in named), samples, text)
        modules = dict(re.findall(r"(?m)^mod (vmlinux|bpf|0xffffffff[c-f]\w{7}) (\d+)$", text))
        self.assertEqual(sum(map(int, modules.values())), samples, text)
        self.assertGreater(int(modules["vmlinux"]), samples // 2, text)
        # The first frame of the stack is the place itself.
        for frame, place in re.findall(r"(?m)^ {10,}(vmlinux`\S+)\n(\S+`\S+)$", text):
            self.assertEqual(frame, place)

    def test_a_probe_in_a_process_has_no_kernel_stack(self):
        text = self.run_script("pid$target:looper:func:entry { stack(); printf(\"%d %d\", stackdepth, caller); exit(0); }",
                               "-c", program("looper") + " 1")
        self.assertEqual(text.split()[-2:], ["0", "0"])

    def test_json_has_modules_and_functions(self):
        result = dvm("run", "-q", "--json", "-n", "syscall::close:entry /pid == $target/ { stack(); exit(0); }", "-c", "cat /dev/null")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        stacks = [line for line in map(json.loads, result.stdout.splitlines()) if "frames" in str(line)]
        self.assertEqual(len(stacks), 1, result.stdout)
        found = re.findall(r"'module': 'vmlinux', 'function': '([\w.]+)', 'offset': \d+", str(stacks[0]))
        self.assertIn("do_syscall_64", found)

    def test_a_recording_keeps_stacks_and_names(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace.dvm")
            script = """syscall::close:entry /pid == $target/ { @[stack(), ustackdepth > 0] = count(); @d[stackdepth, caller] = count(); }
                        END { printa("%k %d %@d\\n", @); printa("%d %a %@d\\n", @d); }"""
            result = dvm("record", "-q", "-o", path, "-n", script, "-c", "cat /dev/null")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("do_syscall_64", frames(result.stdout))
            # kallsyms hidden: what a replay prints is in the file.
            again = self.hide_symbols(["replay", "-q", path, "-n", script])
            self.assertEqual((again.returncode, again.stderr), (0, ""))
            self.assertEqual(again.stdout, result.stdout)
            lacking = dvm("record", "-q", "-o", path, "-n", "syscall::close:entry /pid == $target/ { @ = count(); }", "-c", "cat /dev/null")
            self.assertEqual(lacking.returncode, 0, lacking.stderr)
            result = dvm("replay", "-q", path, "-n", "syscall::close:entry { @[stack()] = count(); }")
            self.assertIn("the recording has no kernel stack for", result.stderr)

    def hide_symbols(self, arguments):
        """Runs dvm where the kernel's addresses are zeros, as kernel.kptr_restrict makes them."""
        with tempfile.NamedTemporaryFile("w") as zeros:
            zeros.write("0000000000000000 T do_syscall_64\n")
            zeros.flush()
            mount = f"mount --bind {zeros.name} /proc/kallsyms && exec \"$@\""
            return subprocess.run(["unshare", "-m", "sh", "-c", mount, "sh", dvmtest.DVM, *arguments], capture_output=True, text=True,
                                  env=dvmtest.ENV, timeout=120)

    def test_hidden_symbols_are_said(self):
        result = self.hide_symbols(["run", "-q", "-n", "syscall::close:entry /pid == $target/ { stack(); }", "-c", "cat /dev/null"])
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, r"^dvm: could not enable tracing: 1 probe left out, syscall::close:entry: the kernel hides its symbols.*\n$")
        self.assertIn("dvm doctor says what would show them", result.stderr)
        # Probes that do not need the symbols fire.
        result = self.hide_symbols(["run", "-q", "-n", """syscall::close:entry /pid == $target/ { stack(); }
                                    syscall::openat:entry /pid == $target/ { @ = count(); }""", "-c", "cat /dev/null"])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("1 probe left out, syscall::close:entry: ", result.stderr)
        self.assertRegex(result.stdout, r"^\s+[1-9]\d*\s+$")
        result = self.hide_symbols(["run", "-q", "-n", "profile-997 /pid == $target && arg0/ { @[func(arg0)] = count(); }", *CALLS])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stderr.count("the kernel hides its symbols, so its addresses stay numbers"), 1)
        self.assertRegex(result.stdout, r"0xffffffff[0-9a-f]{8}")


if __name__ == "__main__":
    unittest.main()
