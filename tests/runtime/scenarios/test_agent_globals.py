"""Clauses in the traced thread that use global variables: dvm writes these and threads read them, or threads write them, too."""

import os
import re
import subprocess
import unittest

import dvmtest
from dvmtest import program
from scenarios.test_agent import LIBRARY, AgentTest

ENTRY, RETURN = "pid$target:a.out:deep:entry ", "pid$target:a.out:deep:return "  # called with 10000 to 0


class Globals(AgentTest):
    KINDS = ["char", "unsigned char", "short", "unsigned short", "int", "unsigned int", "int64_t", "uint64_t"]

    def compare(self, script, *arguments):
        run = ["run", "-qv", "-x", "aggsortkey", "-c", program("returns"), "-n", script, *arguments, "-x"]
        here = dvmtest.dvm(*run, "backend=agent")
        self.assertIn("(agent, in the traced thread)", here.stderr)
        self.assertNotIn("uses a global variable", here.stderr)
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

    def start(self, *command):
        target = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(target.communicate)
        self.addCleanup(target.kill)
        self.assertEqual(target.stdout.readline(), "ready\n")
        return target

    def test_several_processes_read_them(self):
        targets = [self.start(program("torture"), LIBRARY).pid for _ in range(2)]
        probes = ", ".join(f"pid{pid}:torture:fibonacci:entry" for pid in targets)
        result = dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-n", f"tick-50ms {{ on = 1; }} {probes} /on/ {{ @[pid] = count(); }} tick-1s {{ exit(0); }}")
        self.assertIn("(agent, in the traced thread)", result.stderr)
        for pid in targets:
            self.assertRegex(result.stdout, rf"(?m)^ +{pid} +[1-9]")

    def test_threads_change_them_as_dvm_does(self):
        end = "END { printf(\"%d %d %d\\n\", n, last, c); }"
        for body in ("ENTRY { n++; }", "ENTRY { n++; last += arg0; c -= arg0 * 3; n += arg0; } RETURN { n -= 3; }", "BEGIN { n = -7; } ENTRY { n += arg0 * 2; } RETURN { @[n & 0xff] = count(); }",
                     "ENTRY { last = arg0; } RETURN { @[last & 7] = count(); }", "ENTRY { @[c += arg0] = count(); }", "ENTRY /n++ < 5/ { @[arg0] = count(); } RETURN /n & 1/ { @odd = count(); }",
                     "ENTRY /arg0 & 1/ { n = n > 9000 ? 0 : n + 1; } RETURN { last = last * 5 + (int)arg1; }", "ENTRY { self->n = n++; } RETURN /self->n/ { @ = sum(self->n); self->n = 0; }",
                     "ENTRY { n++; } tick-1h { n = last; last++; }"):
            script = "uint64_t n; long last; char c; " + body.replace("ENTRY", ENTRY).replace("RETURN", RETURN) + end
            with self.subTest(script):
                self.compare(script)

    def test_a_condition_and_a_change_are_one(self):
        end = "END { printf(\"%d %d %d\\n\", n, last, c); }"
        for body in ("ENTRY /n < 5/ { n++; }", "ENTRY /n < 5 && arg0 > 3/ { @[n, arg0] = count(); n++; @after[n] = count(); }", "ENTRY /!last/ { last = arg0; @first = count(); } ENTRY { @[arg0 - last] = count(); }",
                     "ENTRY { n++; @[n & 7] = count(); }", "ENTRY /n < 5/ { n++; last += arg0; }", "ENTRY { last = arg0; } ENTRY { @[last] = count(); }", "ENTRY { @[n] = sum(n); } RETURN { n++; }", "ENTRY /n++ < 5/ { @[n] = count(); }",
                     "ENTRY /c < 100/ { c += 7; this->c = c; } ENTRY { @[this->c, c] = count(); }", "ENTRY /n < 9/ { n += 2; self->n = n; } RETURN /self->n/ { @[self->n] = count(); self->n = 0; }"):
            script = "uint64_t n; long last; char c; " + body.replace("ENTRY", ENTRY).replace("RETURN", RETURN) + end
            with self.subTest(script):
                self.compare(script)

    def compare_records(self, script):
        run = ["run", "-qv", "-x", "aggsortkey", "-c", program("returns"), "-n", script, "-x"]
        here = dvmtest.dvm(*run, "backend=agent")
        self.assertIn("(agent, with a record of its own)", here.stderr)
        self.assertNotIn("uses a global variable", here.stderr)
        if os.geteuid() == 0:
            there = dvmtest.dvm(*run, "backend=uprobe")
            # The program prints a line at any time.
            self.assertEqual(*([line for line in one.stdout.splitlines() if not re.fullmatch(r"10000 \d+ \d+", line)] for one in (here, there)))
        return here.stdout

    def test_clauses_of_dvm_find_what_they_have_changed(self):
        end = "END { printf(\"%d %d\\n\", n, last); }"
        for body in ("ENTRY /n < 5/ { printf(\"%d \", n); n++; printf(\"%d\\n\", n); }", "RETURN { printf(\"%d \", n++); } ENTRY /n < 5/ { @[n] = count(); }",
                     "ENTRY /++n < 4/ { printf(\"%d %d\\n\", n, arg0); } ENTRY { @[n & 3] = count(); }", "ENTRY { last = arg0; } RETURN /!last/ { printf(\"%d %d\\n\", last, last & 1); }",
                     "ENTRY /n < 3/ { n++; self->n = n; printf(\"%d\\n\", self->n); } RETURN /self->n/ { @[self->n] = count(); self->n = 0; }", "ENTRY { n++; printf(\"x\"); } END { trace(n); }",
                     "ENTRY /n < 5/ { n++; printf(\"%s\\n\", copyinstr(arg0)); }", "ENTRY /n < 5/ { n++; @[copyinstr(arg0)] = count(); } ERROR { @errors = count(); }"):
            script = "uint64_t n; long last; " + body.replace("ENTRY", ENTRY).replace("RETURN", RETURN) + end
            with self.subTest(script):
                self.compare_records(script)

    def test_the_run_ends_at_a_value(self):
        script = f"{ENTRY}/n < 5/ {{ n++; @ = count(); }} {ENTRY}/n >= 5/ {{ exit(0); }} END {{ printf(\"%d\", n); printa(\" %@d\\n\", @); }}"
        self.assertIn("5 5\n", self.compare_records(script))

    def test_limits_hold_in_several_threads(self):
        work = "pid$target:threads:work:entry "
        run = ["run", "-qv", "-x", "backend=agent", "-c", program("threads") + " 8 20000", "-n"]
        for name, clause, most in (("n", "/n < 1000/ { n++; @ = count(); }", 1000), ("n", "/!n/ { n = arg0 + 1; @ = count(); }", 1), ("n", "/arg0 & 1 && n < 77/ { @ = count(); n++; }", 77)):
            result = dvmtest.dvm(*run, f"{work}{clause} END {{ printa(\"count %@d\\n\", @); }}")
            self.assertIn("(agent, in the traced thread)", result.stderr)
            self.assertIn(f"count {most}\n", result.stdout)
        result = dvmtest.dvm(*run, f'{work}/n < 50/ {{ n++; printf("n is %d\\n", n); }}')
        self.assertIn("(agent, with a record of its own)", result.stderr)
        self.assertEqual(sorted(int(line.split()[2]) for line in result.stdout.splitlines() if line.startswith("n is")), list(range(1, 51)))

    def test_a_limit_by_time_holds_in_several_threads(self):
        script = ("BEGIN { begin = timestamp; } pid$target:threads:work:entry /timestamp - last > 1000000/ { last = timestamp; @ = count(); } "
                  "END { printf(\"ms %d\\n\", (timestamp - begin) / 1000000); printa(\"count %@d\\n\", @); }")
        result = dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-n", script, "-c", program("threads") + " 8 50000")
        self.assertIn("(agent, in the traced thread)", result.stderr)
        milliseconds, count = (int(re.search(rf"{name} (\d+)", result.stdout)[1]) for name in ("ms", "count"))
        self.assertTrue(1 <= count <= milliseconds + 1, result.stdout)

    def test_what_depends_on_the_order_of_all_firings_stays_in_dvm(self):
        """Threads may fire at the same time, and the timer while they do."""
        for body in ("ENTRY { last = arg0; c = arg0; }", "ENTRY { n++; } RETURN { last++; } tick-1h { trace(n); trace(last); }", "ENTRY { @[n++] = count(); } tick-1h { n = 0; }",
                     "ENTRY { n++; } profile-1h { trace(n); }", "ENTRY /n < 5/ { n++; } ENTRY /n < 7/ { n++; }", "ENTRY /n < 5/ { @[n / arg0] = count(); n++; }", "ENTRY /n < 5/ { @[n++] = count(); }",
                     "ENTRY { @[n] = count(); } ENTRY { n++; }", "ENTRY /timestamp/ { @ = count(); } ENTRY /timestamp > last/ { last = timestamp * 0 + arg0; }"):
            script = "uint64_t n; long last; char c; " + body.replace("ENTRY", ENTRY).replace("RETURN", RETURN) + "END { printf(\"%d %d %d\\n\", n, last, c); }"
            with self.subTest(script):
                run = ["run", "-qv", "-x", "aggsortkey", "-c", program("returns"), "-n", script, "-x"]
                here = dvmtest.dvm(*run, "backend=agent")
                self.assertNotIn("(agent, in the traced thread)", here.stderr)
                self.assertIn("a global variable that depends on the order of all firings", here.stderr)
                if os.geteuid() == 0:
                    self.assertEqual(here.stdout, dvmtest.dvm(*run, "backend=uprobe").stdout)

    def test_several_threads_change_them(self):
        script = "long all, most; pid$target:threads:work:entry { n++; all += arg0; most = most > arg0 ? most : arg0; } END { printf(\"n %d all %d most %d\\n\", n, all, most); }"
        result = dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-n", script, "-c", program("threads") + " 8 100000")
        self.assertIn("(agent, in the traced thread)", result.stderr)
        self.assertIn(f"n 800000 all {8 * sum(range(100000))} most 99999\n", result.stdout)

    def test_children_change_them_too(self):
        script = "pid$target:forks:work:entry, pid$target:forks:work:return { n++; } END { printf(\"%d\\n\", n); }"
        run = ["run", "-qv", "-x", "followfork", "-n", script, "-c", program("forks") + " 3", "-x"]
        here = dvmtest.dvm(*run, "backend=agent")
        self.assertIn("(agent, in the traced thread)", here.stderr)
        if os.geteuid() == 0:
            self.assertEqual(here.stdout, dvmtest.dvm(*run, "backend=uprobe").stdout)

    def test_a_timer_empties_them_meanwhile(self):
        """No call is lost or counted twice."""
        script = "int n; pid$target:looper:func:entry { n++; } tick-1ms { all += n; n = 0; ticks++; } END { printf(\"all %d\\n\", all + n); printf(\"ticks %d\\n\", ticks > 5); }"
        result = dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-n", script, "-c", program("looper") + " 5000000")
        self.assertIn("(agent, in the traced thread)", result.stderr)
        self.assertIn("all 5000000\n", result.stdout)
        self.assertIn("ticks 1\n", result.stdout)

    def test_they_count_from_begin_on(self):
        target = self.start(program("torture"), LIBRARY)
        script = f"pid{target.pid}:torture:fibonacci:entry {{ n++; @ = count(); }} tick-50ms /n > 1000/ {{ exit(0); }} END {{ printf(\"n %d\", n); printa(\" and %@d\\n\", @); }}"
        result = dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-n", script)
        self.assertIn("(agent, in the traced thread)", result.stderr)
        self.assertRegex(result.stdout, r"n ([1-9]\d*) and \1\n")

    def test_what_dvm_uses_too_stays_there(self):
        others = ["{ n = arg0; } tick-1s { n = 0; } " + ENTRY, "{ n++; n += strlen(probefunc); } " + ENTRY]
        if os.geteuid() == 0:
            others.append("{ n++; } syscall::write:entry /pid == $target/ { n++; } " + ENTRY)
        for other in others:
            with self.subTest(other):
                result = dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-n", f"{ENTRY}{other}/n < 5/ {{ @[n] = count(); }}", "-c", program("returns"))
                self.assertNotIn("(agent, in the traced thread)", result.stderr)
                self.assertIn("a global variable that depends on the order of all firings", result.stderr)

    def test_what_clauses_of_late_probes_use_too_is_taken_from_threads(self):
        """In two processes, of which one has probes only once it has opened a library. And where a late probe uses a variable twice."""
        if reason := dvmtest.missing_privilege():
            dvmtest.skip_or_fail(self, reason)
        library = os.path.join(os.path.dirname(program("late")), "liblate_library.so")
        probes = "pid$target:a.out:open_and_call:entry, pid$target:liblate*:late_function:entry"
        for body in ("/n++ < 3/ { @[probefunc] = count(); }", "{ last = timestamp; @[last != 0] = count(); }", "{ n++; } pid$target:liblate*:late_function:entry { @[n] = count(); }"):
            with self.subTest(body):
                run = ["run", "-qZ", "-x", "aggsortkey", "-n", f"int n; {probes} {body} END {{ printf(\"%d\\n\", n); }}", "-c", f"{program('late')} {library} 3 4", "-x"]
                here, there = dvmtest.dvm_in_time(*run, "backend=agent"), dvmtest.dvm_in_time(*run, "backend=uprobe")
                self.assertEqual(here.stdout, there.stdout, here.stderr)

    def test_clauses_of_threads_stay_there_if_others_need_dvm(self):
        script = f"{ENTRY}{{ self->t = arg0; }} {RETURN}/self->t/ {{ @ = sum(self->t); self->t = 0; }} pid$target:a.out:tail:entry {{ n += strlen(probefunc); }}"
        result = dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-n", script, "-c", program("returns"))
        self.assertEqual(result.stderr.count("(agent, in the traced thread)"), 2)


if __name__ == "__main__":
    unittest.main()
