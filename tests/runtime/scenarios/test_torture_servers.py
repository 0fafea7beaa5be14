"""Servers under load, to whose functions tracers come and go: no request fails, and the code is what it was. "./bootstrap torture" runs the
long form."""

import glob
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import unittest

import dvmtest
from dvmtest import ENV
from scenarios.test_agent import guards_of, without_paddings
from scenarios.test_torture import IS_LONG, PATIENCE, AsUser, long_or

CYCLES = int(os.environ.get("DVM_SERVER_CYCLES", long_or("3", "200")))
SEED = int(os.environ.get("DVM_SEED", "1"))
MODULES = [":", "libc:", "a.out:"]
ENDED = r"has ended|has exited|does not exist|No such process|no process|ended before"  # what dvm says of a process that goes on its own


class Text:
    """The code of a file that a process has mapped."""

    def __init__(self, pid, line):
        words = line.split()
        self.pid, self.path = pid, words[5]
        self.begin, end = (int(address, 16) for address in words[0].split("-"))
        self.original = pathlib.Path(self.path).read_bytes()[int(words[2], 16):][:end - self.begin]
        self.original = without_paddings(self)

    def changed(self):
        with open(f"/proc/{self.pid}/mem", "rb") as memory:
            memory.seek(self.begin)
            return memory.read(len(self.original)) != self.original


def texts_of(pid):
    lines = pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()
    return [Text(pid, line) for line in lines if " r-xp " in line and re.search(r" /\S+$", line)]


class Load(threading.Thread):
    """Runs a command again and again, and notes what it says if that is not what is expected."""

    def __init__(self, test, command, expected):
        super().__init__()
        self.command, self.expected, self.is_over, self.runs, self.wrong = test.PREFIX + command, expected, threading.Event(), 0, []
        self.process = None
        test.addCleanup(self.is_over.set)

    def run(self):
        while not self.is_over.is_set():
            self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
            said, _ = self.process.communicate(timeout=PATIENCE)
            self.runs += 1
            if self.process.returncode != 0 or not re.search(self.expected, said):
                self.wrong.append(f"{self.process.returncode} {said[-2000:]}")

    def finish(self):
        self.is_over.set()
        self.join()
        return self.wrong


class UnderLoad(AsUser):
    """Starts a program with a load, and tracers in it."""

    modules = MODULES

    def start(self, command, **options):
        server = subprocess.Popen(self.PREFIX + command, stdin=subprocess.DEVNULL, cwd=self.folder, **{"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **options})
        self.addCleanup(end, server)
        return server

    def needs(self, *names):
        for name in names:
            if not shutil.which(name):
                self.skipTest(f"{name} is not installed")

    def answers(self, port):
        def is_there():
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0
        self.assertTrue(dvmtest.eventually(is_there))

    def trace_for_a_while(self, chance, pid, how, options):
        """Attaches to all functions, and ends as `how` says."""
        module = chance.choice(self.modules)
        text = f'pid$target:{module}:entry, pid$target:{module}:return {{ @[probename] = count(); }} tick-{chance.randrange(1, 1000)}ms {{ exit(0); }}'
        tracer = subprocess.Popen(self.trace(text, "-Z", *options, "-p", str(pid)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=ENV, cwd=self.folder)
        self.addCleanup(tracer.kill)
        if how == "killed":
            time.sleep(chance.uniform(0, 3))
            tracer.kill()
        if how == "interrupted":
            time.sleep(chance.uniform(0, 3))
            tracer.send_signal(signal.SIGINT)
        _, err = tracer.communicate(timeout=PATIENCE)
        return tracer.returncode, err

    def check(self, load, pids, *options):
        """Tracers come to the processes of pids() and go while the load runs."""
        chance = random.Random(SEED)
        load.start()
        for step in range(CYCLES):
            time.sleep(chance.uniform(0, 0.3))
            found = pids()
            how = ["exits", "exits", "interrupted", "killed"][step % 4]
            if not found:
                continue
            status, err = self.trace_for_a_while(chance, chance.choice(found), how, options)
            self.assertEqual(load.wrong, [], f"step {step}, {how}: {err}")
            if how == "exits" and not re.search(ENDED, err):
                self.assertEqual(status, 0, err)
        self.assertEqual(load.finish(), [])
        self.assertGreater(load.runs, 0)

    def code_is_restored(self, pid):
        self.assertTrue(dvmtest.eventually(lambda: not guards_of(pid)))
        subprocess.run(self.PREFIX + [self.dvm, "detach", "-p", str(pid)], capture_output=True, timeout=PATIENCE, env=ENV)
        for text in texts_of(pid):
            self.assertTrue(dvmtest.eventually(lambda text=text: not text.changed()), text.path)


class Servers(UnderLoad):
    def test_nginx(self):
        self.needs("nginx", "ab")
        port, count = free_port(), 2000
        self.write_site(port)
        server = self.start(["nginx", "-p", self.folder, "-e", "stderr", "-c", f"{self.folder}/conf"])
        self.answers(port)
        workers = lambda: children_of(server.pid)
        self.assertTrue(dvmtest.eventually(lambda: len(workers()) == 2))
        load = Load(self, ["ab", "-q", "-n", str(count), "-c", "8", "-H", "Accept-Encoding: gzip", f"http://127.0.0.1:{port}/page"], served(count))
        before = workers()
        self.check(load, workers)
        self.assertEqual((server.poll(), workers()), (None, before))
        for pid in before:
            self.code_is_restored(pid)

    def write_site(self, port):
        os.mkdir(f"{self.folder}/html")
        pathlib.Path(self.folder, "html/page").write_text("a page\n" * 1000)
        paths = " ".join(f"{name}_temp_path {self.folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        pathlib.Path(self.folder, "conf").write_text(f"daemon off; worker_processes 2; pid {self.folder}/nginx.pid; error_log stderr; events {{}}\n"
                                                     f"http {{ access_log off; {paths} gzip on; gzip_types *; server {{ listen 127.0.0.1:{port}; root {self.folder}/html; }} }}\n")
        for path in pathlib.Path(self.folder).rglob("*"):
            path.chmod(0o777)

    def test_node(self):
        self.needs("node", "ab")
        self.modules = ["libc:", "libuv*:", "libz*:", "libstdc*:"] + [":"] * IS_LONG  # all functions take minutes to place
        port = free_port()
        script = "require('http').createServer((q, r) => { let s = 0; for (let i = 0; i < 1000; i++) s += i % 7; let t; try { null.x; } catch (e) { t = e.name; } " \
                 f"r.end(JSON.stringify([s, t, require('zlib').deflateSync('abc'.repeat(1000)).length])); }}).listen({port}, '127.0.0.1')"
        server = self.start(["node", "-e", script])
        self.answers(port)
        load = Load(self, ["ab", "-q", "-n", "500", "-c", "4", f"http://127.0.0.1:{port}/"], served(500))
        self.check(load, lambda: [server.pid])
        self.assertIsNone(server.poll())
        self.code_is_restored(server.pid)

    def start_postgres(self):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        if not found or not os.path.exists(found[-1] + "/pgbench") and not shutil.which("pgbench"):
            self.skipTest("postgres is not installed")
        folder, data = found[-1], os.path.join(self.folder, "data")
        made = self.plain([folder + "/initdb", "-D", data, "-A", "trust", "-U", "tester", "--no-sync"])
        self.assertEqual(made.returncode, 0, made.stderr)
        server = self.start([folder + "/postgres", "-D", data, "-k", self.folder, "-c", "listen_addresses=", "-c", "fsync=off", "-c", "jit=off"])
        self.client = ["-h", self.folder, "-U", "tester", "postgres"]
        self.assertTrue(dvmtest.eventually(lambda: self.plain(["psql", "-c", "select 1", *self.client]).returncode == 0))
        made = self.plain(["pgbench", "-i", "-q", *self.client])
        self.assertEqual(made.returncode, 0, made.stderr)
        return server

    def balances(self):
        """The sums that pgbench leaves equal."""
        query = "select (select sum(abalance) from pgbench_accounts), (select sum(tbalance) from pgbench_tellers), (select sum(bbalance) from pgbench_branches), " \
                "(select sum(delta) from pgbench_history)"
        return self.plain(["psql", "-At", "-c", query, *self.client]).stdout.strip().split("|")

    def check_postgres(self, more, pids, *options):
        server = self.start_postgres()
        load = Load(self, ["pgbench", "-n", "-c", "4", "-j", "2", "-T", str(long_or(5, 20)), *more, *self.client],
                    r"processed: [1-9]\d*\nnumber of failed transactions: 0 ")
        self.check(load, lambda: pids(server.pid), *options)
        self.assertIsNone(server.poll())
        self.code_is_restored(server.pid)
        self.assertEqual(len(set(self.balances())), 1, self.balances())

    def test_postgres_serving_clients(self):
        self.check_postgres([], serving)

    def test_postgres_forking_for_each_client(self):
        self.check_postgres(["-C"], lambda pid: [pid], "-x", "followfork")


def end(server):
    """With its children."""
    server.send_signal(signal.SIGQUIT)
    try:
        server.wait(timeout=20)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def serving(postmaster):
    return [pid for pid in children_of(postmaster) if b"[local]" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()]


def served(count):
    return rf"Complete requests: +{count}\nFailed requests: +0\n(?!Non-2xx)"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def children_of(pid):
    """Also while some of them end."""
    return [int(word) for word in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split() if os.path.exists(f"/proc/{word}/exe")]


if __name__ == "__main__":
    unittest.main()
