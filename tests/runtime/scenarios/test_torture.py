"""Real programs with every function of every module probed by an agent, entry and return, do what they do untraced; and hostile
ones survive. "./bootstrap torture" runs the long form."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

import dvmtest
from dvmtest import DVM, ENV, PROGRAMS, program
from scenarios.test_agent import NOBODY, AgentTest

IS_LONG = os.environ.get("DVM_TORTURE") == "long"
EVERYTHING = "pid$target:::entry, pid$target:::return { @[probename] = count(); }"
PATIENCE = 500

SORTED = "import hashlib, json, re, zlib, decimal\nwords = [hashlib.sha256(str(n).encode()).hexdigest() for n in range(%d)]\n" \
         "text = json.dumps(sorted(words))\nprint(len(zlib.compress(text.encode())), len(re.findall('[a-f]+', text)), hashlib.md5(text.encode()).hexdigest())\n" \
         "print(sum(decimal.Decimal(n) / 7 for n in range(%d)))\nimport threading\ndone = []\nthreads = [threading.Thread(target=lambda n=n: done.append(sum(range(n * 1000)))) for n in range(20)]\n" \
         "[t.start() for t in threads]; [t.join() for t in threads]\nprint(sorted(done))\n" \
         "try:\n    int('x')\nexcept ValueError as error:\n    print(error)\n"
TABLE = "create table t(a integer primary key, b text); with recursive n(i) as (select 1 union all select i + 1 from n where i < %d) " \
        "insert into t select i, printf('%%08x', i * 2654435761) from n; create index x on t(b); " \
        "select count(*), sum(length(b)), min(b), max(b) from t where b > '4'; select group_concat(a) from (select a from t order by b limit 20);"
SHELL = 'for i in $(seq %d); do x="$x$((i * i %% 7))"; done; echo $x | md5sum; declare -A a; for i in {1..30}; do a[$i]=$(echo $i); done; echo ${#a[@]}; ' \
        '[[ $x =~ ^[0-9]+$ ]] && echo digits; (exit 3); echo $?; trap "echo caught" USR1; kill -USR1 $$; echo end'


def long_or(short, long):
    return long if IS_LONG else short


def commands():
    """Name and command of each program, with output that is the same each time."""
    yield "sqlite3", ["sqlite3", ":memory:", TABLE % long_or(300, 200000)]
    yield "bash", ["bash", "-c", SHELL % long_or(50, 5000)]
    yield "python3", ["/usr/bin/python3", "-c", SORTED % long_or((100, 100), (30000, 20000))]
    yield "perl", ["perl", "-e", 'my %%h; $h{$_ %% 97} .= chr(65 + $_ %% 26) for 1..%d; print join(",", map {"$_=" . length $h{$_}} sort {$a <=> $b} keys %%h), "\n"; eval { die "x\n" }; print $@;' % long_or(5000, 500000)]
    yield "contexts", [program("contexts")]
    yield "returns", [program("returns")]
    yield "go", [program("go_cgo")]  # with functions of C; an agent leaves out those of Go


class AsUser(AgentTest):
    """Without privileges, so that nothing but an agent takes a probe in earnest."""

    PREFIX = []

    def setUp(self):
        super().setUp()
        self.folder = tempfile.mkdtemp(prefix="dvm-torture-")
        self.addCleanup(shutil.rmtree, self.folder)
        os.chmod(self.folder, 0o777)
        if os.geteuid() == 0:
            if not shutil.which("setpriv"):
                dvmtest.skip_or_fail(self, "needs setpriv, to become a user")
            self.PREFIX = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all"]
        self.dvm = shutil.copy(DVM, self.folder)

    def copied(self, name):
        return shutil.copy(program(name), self.folder)

    def plain(self, command):
        return subprocess.run(self.PREFIX + command, capture_output=True, text=True, timeout=PATIENCE, cwd=self.folder)

    def trace(self, text, *options):
        return self.PREFIX + [self.dvm, "run", "-q", "-x", "backend=agent", "-n", text, *options]

    def traced(self, text, command, *options):
        quoted = " ".join("'" + word.replace("'", "'\\''") + "'" for word in command)
        return subprocess.run(self.trace(text, *options, "-c", quoted), capture_output=True, text=True, timeout=PATIENCE, env=ENV, cwd=self.folder)


class Programs(AsUser):
    """Every function of every module, entry and return."""

    def test_output_is_that_of_the_untraced_run(self):
        for name, command in commands():
            if not shutil.which(command[0]) and not os.path.exists(command[0]):
                print(f"{name} is not installed")
                continue
            if command[0].startswith(PROGRAMS):
                command[0] = self.copied(os.path.basename(command[0]))
            with self.subTest(name):
                counts = os.path.join(self.folder, name + ".counts")
                expected = self.plain(command)
                result = self.traced(EVERYTHING, command, "-o", counts)
                self.assertEqual(result.stdout, expected.stdout, result.stderr)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertRegex(pathlib.Path(counts).read_text(), r"entry +\d+")


RUST = '''use std::{collections::BTreeMap, panic, sync::mpsc, thread};
fn main() {
    panic::set_hook(Box::new(|_| {}));
    let (sender, receiver) = mpsc::channel();
    let all: Vec<_> = (0..8u64).map(|n| { let sender = sender.clone(); thread::spawn(move || for i in 0..N { sender.send((n, i * n)).unwrap(); }) }).collect();
    all.into_iter().for_each(|one| one.join().unwrap());
    drop(sender);
    let mut sums: BTreeMap<String, u64> = BTreeMap::new();
    for (n, value) in receiver { *sums.entry(format!("thread {n}")).or_default() += value; }
    let caught = (0..200).filter(|i| panic::catch_unwind(|| if i % 3 == 0 { panic!("third") }).is_err()).count();
    println!("{sums:?} {caught}");
}
'''


class Runtimes(AsUser):
    """Languages that bring code of their own: unwinding by panics, machine code made at run-time, faults that are taken for checks."""

    def check(self, text, command, *options):
        expected = self.plain(command)
        self.assertEqual(expected.returncode, 0, expected.stderr)
        result = self.traced(text, command, "-o", os.path.join(self.folder, "counts"), *options)
        self.assertEqual((result.returncode, result.stdout), (0, expected.stdout), result.stderr)
        self.assertRegex(pathlib.Path(self.folder, "counts").read_text(), r"entry +\d+")

    def test_rust_with_panics(self):
        rustc = shutil.which("rustc")
        if not rustc:
            self.skipTest("rustc is not installed")
        program_itself = os.path.join(self.folder, "rusty")
        source = RUST.replace("N {", f"{long_or(200, 100000)} {{")
        subprocess.run([rustc, "-O", "--edition=2021", "-", "-o", program_itself], input=source, text=True, check=True, cwd=self.folder)
        self.check(EVERYTHING, [program_itself])

    def test_java(self):
        if not shutil.which("java"):
            self.skipTest("java is not installed")
        modules = ("", ) if IS_LONG else ("libc", "libjli", "libjava", "libjimage")
        text = ", ".join(f"pid$target:{module}::entry, pid$target:{module}::return" for module in modules) + " { @[probename] = count(); }"
        self.check(text, ["java", "-Xshare:auto", "--list-modules"], "-Z")


class Servers(AsUser):
    """A server under load is attached to, detached from, and loses its tracer by SIGKILL."""

    LOAD = ["redis-benchmark", "-t", "set,get,lpush,zadd,mset", "-n", str(long_or(2000, 200000)), "-r", "1000", "-q", "-s"]

    def test_redis_goes_on(self):
        if not shutil.which("redis-server") or not shutil.which("redis-benchmark"):
            self.skipTest("redis-server is not installed")
        socket = os.path.join(self.folder, "socket")
        server = subprocess.Popen(self.PREFIX + ["redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--dir", self.folder],
                                  stdout=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        self.assertTrue(dvmtest.eventually(lambda: os.path.exists(socket)))
        for step in range(long_or(3, 100)):
            self.attach_under_load(server, socket, is_killed=step % 3 == 1)
        keys = self.plain(["redis-cli", "-s", socket, "dbsize"]).stdout
        self.assertGreater(int(keys), 100)
        self.assertEqual(self.plain(["redis-cli", "-s", socket, "eval", "local n = 0 for i = 1, 1000 do n = n + i end return n", "0"]).stdout, "500500\n")

    def test_postgres_answers_the_same(self):
        if not shutil.which("initdb") or not shutil.which("postgres"):
            self.skipTest("postgres is not installed")
        data = os.path.join(self.folder, "data")
        made = self.plain(["initdb", "-D", data, "-A", "trust", "--no-sync"])
        self.assertEqual(made.returncode, 0, made.stderr)
        count = long_or(2000, 200000)
        queries = f"select count(*), sum(length(md5(n::text))), max(md5(n::text)) from generate_series(1, {count}) n;\nselect 1 / 0;\n" \
                  f"select n % 7, count(distinct md5((n % 100)::text)) from generate_series(1, {count}) n group by 1 order by 1;\n"
        expected = self.ask_postgres(data, queries, [])
        self.assertIn("count", expected)
        self.assertEqual(self.ask_postgres(data, queries, ["pid$target:postgres::entry, pid$target:postgres::return { @[probename] = count(); }"]), expected)
        self.assertEqual(self.ask_postgres(data, queries, ["pid$target:postgres:*md5*:entry, pid$target:postgres:*hash*:entry { self->t = timestamp; @[copyinstr(arg0)] = count(); }"]), expected)

    def ask_postgres(self, data, queries, scripts):
        """What it answers while scripts trace it."""
        server = subprocess.Popen(self.PREFIX + ["postgres", "--single", "-D", data, "postgres"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True, cwd=self.folder)
        self.addCleanup(server.kill)
        self.assertTrue(server.stdout.readline())
        tracers = [subprocess.Popen(self.trace('BEGIN { printf("live\\n"); } ' + text, "-x", "switchrate=10ms", "-p", str(server.pid)), stdout=subprocess.PIPE,
                                    stderr=subprocess.DEVNULL, text=True, env=ENV, cwd=self.folder) for text in scripts]
        for tracer in tracers:
            self.addCleanup(tracer.kill)
            self.assertEqual(tracer.stdout.readline(), "live\n")
        answer, _ = server.communicate(queries, timeout=PATIENCE)
        self.assertEqual(server.returncode, 0)
        for tracer in tracers:
            out, _ = tracer.communicate(timeout=PATIENCE)
            self.assertEqual(tracer.returncode, 0, out)
        return answer

    def attach_under_load(self, server, socket, is_killed):
        load = subprocess.Popen(self.LOAD + [socket], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        tracer = subprocess.Popen(self.trace("pid$target:redis-server::entry, pid$target:redis-server::return { @[probename] = count(); } tick-2s { exit(0); }",
                                             "-p", str(server.pid)), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=ENV, cwd=self.folder)
        if is_killed:
            time.sleep(1.5)
            tracer.kill()
        _, err = tracer.communicate(timeout=PATIENCE)
        out, _ = load.communicate(timeout=PATIENCE)
        self.assertEqual((load.returncode, server.poll()), (0, None), out)
        self.assertNotIn("Error", out)
        if not is_killed:
            self.assertEqual(tracer.returncode, 0, err)


class Hostile(AsUser):
    TAKEN = "pid$target:a.out:take:entry { @[copyinstr(arg0)] = count(); } pid$target:a.out::entry, pid$target:a.out::return { @n[probefunc, probename] = count(); } " \
            "ERROR { @faults[arg4] = count(); } END { trunc(@); }"

    def check(self, *words):
        command = [self.copied("hostile"), *words]
        expected = self.plain(command)
        self.assertEqual(expected.returncode, 0)
        result = self.traced(self.TAKEN, command)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(expected.stdout, result.stdout, result.stderr)
        return result.stdout

    def test_bad_pointers_are_faults_of_the_clause(self):
        self.assertRegex(self.check("pointers", "10000"), r"\n +1 +\d+\n")  # a machine that is busy drops some

    def test_faults_of_the_program_are_its_own(self):
        self.assertRegex(self.check("faults", "1000"), r"on_fault +entry +1000")

    def test_threads_come_and_go(self):
        count = long_or("200", "5000")
        self.assertRegex(self.check("threads", count), rf"work +entry +{count}\n")

    def test_deep_recursion(self):
        depth = 100000
        counts = self.check("deep", str(depth))
        for name in ("entry", "return"):
            self.assertRegex(counts, rf"descend +{name} +{3 * (depth + 1)}\n")

    def test_a_thread_with_little_stack(self):
        command = [self.copied("hostile"), "little", "2560"]
        expected = self.plain(command).stdout
        for clause in ("@[copyinstr(arg0), execname] = quantize(arg1);", "@[ustack(3)] = count();", "self->s = copyinstr(arg0); @[self->s, tid] = max(arg1); ustack();",
                       "n += arg1; printf(\"%s\", copyinstr(arg0));"):
            with self.subTest(clause):
                records = os.path.join(self.folder, "records")
                result = self.traced(f"pid$target:a.out:take:entry {{ {clause} @calls = count(); }} END {{ printa(\"%@d calls\", @calls); }}", command, "-o", records)
                self.assertEqual((result.returncode, result.stdout), (0, expected), result.stderr)
                self.assertIn("200 calls", pathlib.Path(records).read_text())

    def test_a_child_that_shares_memory(self):
        self.check("shares", "100")

    def test_a_child_that_shares_memory_and_runs_beside_it(self):
        for script in ("pid$target:a.out:take:entry { @ = count(); @n[arg0 != 0] = sum(1); @t[tid] = count(); }",
                       "pid$target:a.out:take:entry { self->n++; @ = max(self->n); @n[arg0 != 0] = count(); @t[tid] = count(); }"):
            with self.subTest(script):
                command = [self.copied("hostile"), "clones", "300000"]
                result = self.traced(script + 'END { printa("%@d\\n", @); printa("%@d\\n", @n); printa("of a task %@d\\n", @t); }', command)
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertTrue(result.stdout.startswith("1\n") or "\n1\n" in result.stdout, result.stdout)
                self.assertIn("\n600000\n", "\n" + result.stdout)
                self.assertEqual(result.stdout.count("of a task 300000\n"), 2, result.stdout)

    def test_a_program_that_checks_its_code_finds_the_jumps(self):
        target = subprocess.Popen(self.PREFIX + [self.copied("hostile"), "checks", "3000"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(target.communicate)
        self.addCleanup(target.kill)
        result = subprocess.run(self.trace("pid$target:a.out:take:entry { @ = count(); } tick-200ms { exit(0); }", "-p", str(target.pid)),
                                capture_output=True, text=True, timeout=PATIENCE, env=ENV)
        self.assertEqual(result.returncode, 0, result.stderr)
        out, _ = target.communicate(timeout=PATIENCE)
        self.assertEqual((target.returncode, out), (0, "changed\n"))

    def test_a_process_under_a_debugger_is_refused(self):
        for debugger in (["strace", "-f", "-o", "/dev/null"], ["gdb", "-q", "-batch", "-ex", "run", "--args"]):
            if not shutil.which(debugger[0]):
                continue
            with self.subTest(debugger[0]):
                self.refuse(debugger)

    def refuse(self, debugger):
        program_itself = self.copied("hostile")
        under = subprocess.Popen(self.PREFIX + debugger + [program_itself, "checks", "2000"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                 stdin=subprocess.DEVNULL, text=True)
        self.addCleanup(under.communicate)
        self.addCleanup(under.kill)
        self.assertTrue(dvmtest.eventually(lambda: pid_of(program_itself)))
        result = subprocess.run(self.trace("pid$target:a.out:take:entry { @ = count(); }", "-p", str(pid_of(program_itself))),
                                capture_output=True, text=True, timeout=PATIENCE, env=ENV)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"process \d+ traces it already")
        self.assertIn("same", under.communicate(timeout=PATIENCE)[0])


def pid_of(path):
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "exe") == path and b"checks" in (process / "cmdline").read_bytes():
                return int(process.name)
        except OSError:
            pass
    return None


if __name__ == "__main__":
    unittest.main()
