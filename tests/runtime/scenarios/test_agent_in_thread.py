"""Clauses that run in the traced thread: the same results as in dvm and by uprobes."""

import os
import re
import subprocess
import unittest

import dvmtest
from dvmtest import program
from scenarios.test_agent import LIBRARY, AgentTest


class InThread(AgentTest):
    """Clauses that run in the traced thread give what they give in dvm."""

    DEEP = "pid$target:a.out:deep:"  # called with 10000 to 0; returns as many
    BODIES = ["{ @ = count(); }", "{ @[arg1 & 7] = count(); }", "/arg0 == 42/ { @ = sum(arg0); }", "/arg0 < 10 || arg1 > 9990/ { @ = count(); }",
              "{ @[pid == $target, tid == pid, arg0 >> 12] = quantize(arg1); }", "{ @ = min(arg1 * -3); }", "{ @[arg1 > 5000] = max(arg1); }",
              "{ @[(char)arg1, (unsigned short)arg1 & 3] = avg(arg1); }", "{ @[arg1] = sum(arg0); }", "/0/ { @ = count(); }", "/(int)arg1 << 33/ { @ = count(); }", "{ @ = quantize(5000 - arg1); }",
              "{ @ = lquantize(arg1, 100, 9000, 500); @n = lquantize(arg1 - 5000, -20, 20); }", "{ @[arg1 & 1] = llquantize(arg1 - 2000, 10, 0, 4, 20); }", "{ @ = stddev(arg1 * -3); }"]

    # Several clauses of one probe, by % after its description: in order, each with its own predicate.
    SEVERAL = ["% /arg1 < 100/ { @ = count(); } % { @n = sum(arg1); @m[arg1 & 3] = max(arg1); } % /arg1 & 1/ { @o = count(); }",
               "% /arg1 == 7/ { @ = count(); @m = min(arg1); } % /arg1 != 7/ { @ = count(); }", "% { @a[arg1] = count(); } % { @b[arg1 & 31] = quantize(arg1); @c = count(); }"]

    # With variables of the thread and of the clause. deep() is in all its calls before it returns from the first.
    ENTRY, RETURN = DEEP + "entry ", DEEP + "return "
    STATEFUL = [f"{ENTRY}{{ self->a = arg0; self->n++; }} {RETURN}/self->a/ {{ @[self->a & 3] = sum(arg1 - self->a); self->a = 0; }} {RETURN}{{ @n = max(self->n); }}",
                f"this int z; {ENTRY}{{ this->x = arg0 * 3; this->y = (char)this->x; }} {ENTRY}/this->y < 0/ {{ @ = count(); this->y = 1; }} {ENTRY}{{ @s[this->x & 7, this->z] = sum(this->y); this->z = 5; }}",
                f"self char c; self unsigned short s; {ENTRY}{{ self->c = arg0; self->s = arg0 * -1; }} {RETURN}{{ @[self->c, self->s > 30000] = count(); self->s += arg1; }}",
                f"this int t; {ENTRY}{{ self->t = timestamp; @ = count(); }} {RETURN}/self->t/ {{ self->d = timestamp - self->t; self->late += (int64_t)self->d < 0; }}"
                f"{RETURN}/self->t/ {{ @n[self->late, this->t == timestamp] = count(); }}"]

    # Clauses that dvm runs from records of their own, beside others in the thread.
    RECORDED = [f'{ENTRY}{{ self->a += arg0; }} {RETURN}/self->a % 2500 == 0/ {{ printf("%d %d %s\\n", self->a, arg1 - self->a, probefunc); self->a--; }} {RETURN}{{ @ = sum(self->a); self->a -= arg1; }}',
                f'{ENTRY}{{ @ = count(); }} {ENTRY}/arg0 % 3000 == 5/ {{ trace(arg0); n += arg0; }} END {{ printf("%d", n); }}',
                f'{ENTRY}{{ this->x = arg0 * 3; @ = sum(this->x); }} {ENTRY}/this->x % 7000 == 0/ {{ this->y = this->x / 2; printf("%d %d\\n", this->x, this->y); this->x++; }}'
                f'{ENTRY}/this->x % 7000 == 1/ {{ this->s = "odd"; @odd[this->s] = count(); }}',
                f'{ENTRY}{{ self->a = arg0; }} {ENTRY}/self->a < 3/ {{ @ = count(); printf("%d\\n", 12 / self->a); }} ERROR {{ @e[arg3, arg4] = count(); }}',
                f'self char c; {ENTRY}{{ self->c = arg0; self->t = timestamp; }} {ENTRY}/self->c == -1/ {{ printf("%d %d %d\\n", self->c, self->t == timestamp, tid == pid); ustack(1); self->n++; }} {RETURN}/self->n/ {{ @[self->n] = count(); }}']

    def compare(self, script, there, *options, way="(agent, in the traced thread)"):
        """The script in the thread, and the other one in dvm."""
        run = ["run", "-qv", *options, "-x", "aggsortkey", "-c", program("returns"), "-n"]
        here = dvmtest.dvm(*run, script, "-x", "backend=agent")
        there = dvmtest.dvm(*run, *there)
        self.assertIn(way, here.stderr)
        self.assertNotIn("(agent, in the traced thread", there.stderr)
        own = "10000 4 14\n"  # of the program: it may come anywhere
        self.assertEqual(here.stdout.replace(own, ""), there.stdout.replace(own, ""))
        self.assertIn(own, here.stdout)

    def test_results_are_those_of_dvm(self):
        for name in ("entry", "return"):
            for body in self.BODIES + self.SEVERAL:
                body = body if name == "return" else body.replace("arg1", "arg0")
                script = (body if "%" in body else "% " + body).replace("%", self.DEEP + name)
                with self.subTest(script):
                    self.compare(script, [f"{script} {self.DEEP}{name} /ppid < 0/ {{ trace(0); }}", "-x", "backend=agent"])

    def test_quotients_are_those_of_dvm(self):
        for body in ("/arg0 % 3 == 0/ { @[arg0 / 1000] = sum((arg0 - 5000) / -7); }",
                     "{ @[(arg0 - 5000) % 4, (unsigned)arg0 / 4096u % 3u] = max(arg0 / 10 % 10); }"):
            with self.subTest(body):
                self.compare(self.ENTRY + body, [f"{self.ENTRY}{body} {self.ENTRY}/ppid < 0/ {{ trace(0); }}", "-x", "backend=agent"])

    def test_divisions_by_values_are_those_of_uprobes(self):
        if os.geteuid() != 0:
            dvmtest.skip_or_fail(self, "needs root, for uprobes")
        error = "ERROR { @errors[arg1, arg4] = count(); }"
        for script in (f"{self.ENTRY}{{ @[arg0 % 7] = sum(100000 / (arg0 % 7)); @n = count(); }} {error}",
                       f"{self.ENTRY}/10000 % (arg0 - 5000)/ {{ @ = count(); }} {self.ENTRY}{{ @all = count(); }} {error}",
                       f"{self.ENTRY}{{ this->d = (int)arg0 - 3; @[this->d < 0] = quantize((0 - arg0) / this->d); }} {error}",
                       f"{self.ENTRY}{{ @[probefunc, ustack(1)] = max((unsigned)arg0 % (unsigned)(arg0 & 3)); }} {error}"):
            with self.subTest(script):
                self.compare(script, [script, "-x", "backend=uprobe"])

    def test_results_are_those_of_uprobes(self):
        if os.geteuid() != 0:
            dvmtest.skip_or_fail(self, "needs root, for uprobes")
        for script in [body.replace("%", self.ENTRY).replace("arg1", "arg0") for body in self.SEVERAL] + self.STATEFUL:
            with self.subTest(script):
                self.compare(script, [script, "-x", "backend=uprobe"])

    def test_records_of_single_clauses_are_those_of_uprobes(self):
        if os.geteuid() != 0:
            dvmtest.skip_or_fail(self, "needs root, for uprobes")
        for script in self.RECORDED:
            with self.subTest(script):
                self.compare(script, [script, "-x", "backend=uprobe"], way="(agent, with a record of its own)")

    def test_a_pointer_of_an_earlier_clause_is_followed_at_the_firing(self):
        script = 'pid$target:looper:func:entry { this->p = (char *)arg0; } pid$target:looper:func:entry { printf("%s\\n", stringof(this->p)); }'
        result = dvmtest.dvm("run", "-q", "-x", "backend=agent", "-n", script, "-c", program("looper") + " 5")
        self.assertEqual(result.stdout.count("hello DTrace\n"), 5, result.stderr)
        self.assertNotIn("after their firing", result.stderr)

    def test_false_predicates_leave_no_record(self):
        """A clause that needs dvm has the same results as with a record of each firing."""
        for body in ('% /arg0 == 42/ { printf("%%d %%d\\n", arg0, arg1 != 0); }', "% /arg0 < 3/ { trace(arg0); } % /arg0 >= 9999/ { @[arg0] = count(); trace(arg0); }",
                     "% /(char)arg0 << 62/ { trace(1); }", "% /pid == $target && (arg0 & 1023) == 7/ { n[0]++; trace(n[0]); }"):
            script = body.replace("%%", "@@").replace("% ", self.DEEP + "entry ").replace("@@", "%")
            with self.subTest(script):
                run = ["run", "-qv", "-x", "backend=agent", "-x", "ringsize=64m", "-c", program("returns"), "-n"]
                here = dvmtest.dvm(*run, script)
                there = dvmtest.dvm(*run, script + self.DEEP + "entry { never_read[0]++; }")
                self.assertIn("(agent, predicates in the traced thread)", here.stderr)
                self.assertNotIn("(agent, ", there.stderr)
                self.assertEqual(here.stdout, there.stdout)

    def test_variables_are_those_of_the_thread(self):
        work = "pid$target:threads:work:"
        result = dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-n", f"{work}entry {{ self->a = arg0; self->n++; }} {work}return {{ @[arg1 - self->a] = count(); @m = max(self->n); }}",
                             "-c", program("threads") + " 20")
        self.assertIn("(agent, in the traced thread)", result.stderr)
        self.assertRegex(result.stdout, r"\n +1 +200000\n")
        self.assertRegex(result.stdout, r"\n +10000\n")

    def test_clauses_that_share_a_variable_run_on_one_side(self):
        others = [f"{self.RETURN}/self->a == 7 && ppid >= 0/ {{ printf(\"%d\\n\", self->a); }}",  # a predicate that needs dvm, on the other probe
                  "pid$target:a.out:tail:entry { self->a = 7; } pid$target:a.out:tail:return /self->a/ { @t = sum(self->a); }",  # no agent can take this return
                  "syscall:::entry /pid == $target && self->a == -1/ { @y = count(); }"]
        for other in others[:] if os.geteuid() == 0 else others[:1]:
            script = f"{self.ENTRY}{{ self->a = arg0; self->b = 1; @ = count(); }} {other}"
            with self.subTest(other):
                run = ["run", "-qv", "-x", "aggsortkey", "-c", program("returns"), "-n", script, "-x"]
                here, there = dvmtest.dvm(*run, "backend=agent"), dvmtest.dvm(*run, "backend=uprobe")
                self.assertIn("(agent)", here.stderr)
                self.assertIn("entry: backend local (agent), engine interp; not in the traced thread: a thread-local variable of its clauses is used by clauses that run in dvm; ", here.stderr)
                self.assertNotIn("(agent, in the traced thread)", here.stderr)
                if os.geteuid() == 0:
                    self.assertEqual(sorted(here.stdout.splitlines()), sorted(there.stdout.splitlines()))

    def test_a_reason_is_given_where_clauses_run_in_dvm(self):
        reasons = {"{ trace(arg0); }": "leaves a record", "{ n++; @[n] = count(); n++; }": "uses a global variable", "{ n[0]++; }": "accesses memory or an array", "{ @ = sum(rand()); }": "divides by 0, calls a subroutine",
                   "{ self->a = arg0 / arg1; }": "divides by a value that may be 0",
                   "{ @ = max(vtimestamp); }": "reads a built-in variable other than", "{ @ = lquantize(arg0, 0, 5000); }": "into more than 1,000 buckets",
                   "{ @ = quantize(arg0, 2); }": "aggregates with an increment", "{ self->s = execargs; }": "reads a built-in variable other than",
                   "{ @n = count(); @[copyinstr(arg0)] = count(); }": "may be unreadable"}
        for body, reason in reasons.items():
            with self.subTest(body):
                result = dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-n", self.ENTRY + body, "-c", program("returns"))
                self.assertRegex(result.stderr, f"not in the traced thread: a clause of the probe [^;]*({reason})")

    def test_nothing_is_lost_however_fast(self):
        result = self.run_dvm("pid$target:looper:func:entry { @ = count(); }", "-x", "switchrate=10ms", "-x", "aggrate=1ms", "-c", program("looper") + " 5000000")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("5000000", result.stdout.split())

    def test_many_keys_are_counted_by_dvm(self):
        result = self.run_dvm("pid$target:a.out:deep:entry { @[arg0] = quantize(arg0); @n = count(); } pid$target:a.out:deep:return { @r[arg1] = quantize(arg1); }"
                              "END { printa(\"%@d\\n\", @n); }", "-x", "bufsize=64m", "-c", program("returns"))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(re.findall(r"(?m)^ +value  -", result.stdout)), 20002)

    def test_clear_and_printa_see_each_firing_once(self):
        script = """pid$target:looper:func:entry { @ = count(); } tick-5ms { printa("%@d\\n", @); clear(@); } END { printa("%@d\\n", @); }"""
        result = self.run_dvm(script, "-x", "switchrate=5ms", "-c", program("looper") + " 3000000")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        counts = [int(line) for line in result.stdout.splitlines() if line.strip().isdigit()]
        self.assertEqual(sum(counts), 3000000)

    def test_nothing_counts_behind_exit(self):
        ends = ["/arg0 == 4242/ { printf(\"%d\\n\", arg0); exit(3); }", "/arg0 < limit/ { exit(0); }", "/self->n == 100 && tid == pid/ { @ = max(self->n); exit(1); }"]
        for end in ends:
            script = (f"BEGIN {{ limit = 5000; }} {self.ENTRY}{{ self->n++; @before = count(); }} {self.ENTRY}{end} {self.ENTRY}{{ @after[self->n & 1] = count(); }}"
                      f"{self.RETURN}{{ @returns = count(); }} END {{ printf(\"end\\n\"); }}")
            with self.subTest(script):
                run = ["run", "-qv", "-x", "aggsortkey", "-c", program("returns"), "-n", script, "-x"]
                here = dvmtest.dvm(*run, "backend=agent")
                self.assertIn("(agent, with a record of its own)", here.stderr)
                self.assertIn("return: backend local (agent, in the traced thread)", here.stderr)
                if os.geteuid() != 0:
                    continue
                there = dvmtest.dvm(*run, "backend=uprobe")
                lines = [sorted(line for line in one.stdout.splitlines() if line != "10000 4 14") for one in (here, there)]  # the program may say that
                self.assertEqual((here.returncode, lines[0]), (there.returncode, lines[1]))

    def test_a_run_may_end_where_a_predicate_counts(self):
        result = dvmtest.dvm("run", "-qv", "-x", "backend=agent", "-n", "pid$target:looper:func:entry { @ = count(); } pid$target:looper:func:return /++n == 7/ { exit(0); }",
                             "-c", program("looper") + " 1000")
        self.assertIn("func:entry: backend local (agent, in the traced thread)", result.stderr)
        self.assertIn("7", result.stdout.split())


class Begin(AgentTest):
    """With -p, the threads of a process fire as soon as their code is replaced."""

    SCRIPT = """BEGIN { printf("%d\\n", timestamp); }
                pid$target:torture:fibonacci:entry { self->was = 1; }
                pid$target:torture:fibonacci:entry { @ = min(timestamp); @n = count(); } tick-200ms { exit(0); }
                pid$target:torture:fibonacci:return /self->was/ { @m = min(timestamp); self->was = 0; }"""

    def test_nothing_counts_before_it(self):
        target = subprocess.Popen([program("torture"), LIBRARY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(target.communicate)
        self.addCleanup(target.kill)
        self.assertEqual(target.stdout.readline(), "ready\n")
        for _ in range(3):
            result = dvmtest.dvm("run", "-q", "-x", "backend=agent", "-n", self.SCRIPT, "-p", str(target.pid))
            begun, first, _, first_return = (int(word) for word in result.stdout.split())
            self.assertGreaterEqual(first, begun)
            self.assertGreaterEqual(first_return, begun)


if __name__ == "__main__":
    unittest.main()
