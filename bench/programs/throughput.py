#!/usr/bin/env python3
"""What tracing by an agent costs python3, sqlite3, nginx and postgres, with bpftrace beside it. Runs alternate with untraced ones.

usage: throughput.py DVM [ROUNDS [PROGRAM...]]      (7 rounds; bpftrace needs root)

Prints the median and the quartiles of the ratio to the untraced run of the same round. The CPU time is that of the program alone, so
it hardly depends on what else the machine does; the rates of servers do. Traced are the sizes of malloc in python3 (as
python3-malloc, each object is allocated by malloc), and the latency of sqlite3_step, of recv in nginx, and of PortalRun in the
postgres process that serves a client. redis_latency.py is such a benchmark of redis-server.
"""

import contextlib
import glob
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
import lifetime  # noqa: E402, F401
from measuring import path_of, spread  # noqa: E402
from redis_latency import cpu_of, end_tracer, free_port, start_tracer  # noqa: E402

CPU, RATE = "s of CPU", "requests a second"
QUERIES = 150_000

PYTHON = """
import json, sys, time
def work():
    begin = time.process_time()
    for _ in range(15):
        text = json.dumps([{"id": i, "name": "n%d" % i, "sizes": list(range(i % 30))} for i in range(200)])
        json.loads(text)
    return time.process_time() - begin
work()
print("ready", flush=True)
for line in sys.stdin:
    print(*(work() for _ in range(40)), flush=True)
"""
SQL = """.print ready
.output /dev/null
"""
QUERY = """CREATE TABLE t(a INTEGER, b TEXT);
.output stdout
.timer on
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000) SELECT count(i % 7) FROM n GROUP BY i % 7;
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000) INSERT INTO t SELECT i, hex(i) FROM n;
SELECT a, b FROM t WHERE a % 2 = 0;
"""
NGINX = """daemon off; master_process off; pid {folder}/pid; error_log {folder}/errors;
events {{ worker_connections 256; }}
http {{ access_log off; server {{ listen 127.0.0.1:{port}; location / {{ return 200 "hello"; }} }} }}
"""
SIZES = ("pid$target:libc:malloc:entry {{ @ = quantize(arg0); }}", "uprobe:{0}:malloc {{ @ = hist(arg0); }}")


def latency(module, function):
    return (f"pid$target:{module}:{function}:entry {{{{ self->begin = timestamp; }}}} pid$target:{module}:{function}:return "
            "/self->begin/ {{ @ = quantize(timestamp - self->begin); self->begin = 0; }}",
            f"uprobe:{{0}}:{function} {{{{ @begin[tid] = nsecs; }}}} uretprobe:{{0}}:{function} /@begin[tid]/ "
            "{{ @ = hist(nsecs - @begin[tid]); delete(@begin[tid]); }}")


@contextlib.contextmanager
def traced(way, dvm, pid, module, scripts):
    """The process is under trace by the way, unless that is `untraced`."""
    if way == "untraced":
        yield
        return
    begin = 'BEGIN { printf("live\\n"); } '
    if way == "agent":
        command = [dvm, "run", "-q", "-x", "backend=agent", "-n", begin + scripts[0].format(), "-p", str(pid)]
    else:
        command = ["bpftrace", "-p", str(pid), "-e", begin + scripts[1].format(path_of(pid, module))]
    tracer = start_tracer(command)
    yield
    end_tracer(tracer)


def run_alone(argv, ready, go, result, module, scripts, way, dvm):
    """The CPU time of a program that says when it is ready, and when it has done its work."""
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        program.stdin.write(ready)
        program.stdin.flush()
        assert program.stdout.readline() == "ready\n"
        with traced(way, dvm, program.pid, module, scripts):
            program.stdin.write(go)
            program.stdin.flush()
            out = list(iter(program.stdout.readline, "done\n"))
            time.sleep(0.1)
        program.kill()
    return {CPU: sum(float(seconds) for seconds in re.findall(result, "".join(out)))}


@contextlib.contextmanager
def python(**environment):
    """The ways alternate in one process, since two processes differ by more than an agent costs. A piece of the work takes some ms; their
    median is the figure, so that an interruption does not matter."""
    with subprocess.Popen(["/usr/bin/python3", "-c", PYTHON], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                          env={**os.environ, **environment}) as program:
        assert program.stdout.readline() == "ready\n"

        def run(way, dvm):
            with traced(way, dvm, program.pid, "libc.so", SIZES):
                program.stdin.write("\n")
                program.stdin.flush()
                pieces = [float(seconds) for seconds in program.stdout.readline().split()]
            return {CPU: statistics.median(pieces)}

        yield run
        program.stdin.close()


def run_sqlite(way, dvm):
    return run_alone(["sqlite3", "-batch", ":memory:"], SQL, QUERY + ".print done\n", r"user ([\d.]+)", "libsqlite3.so",
                     latency("libsqlite3*", "sqlite3_step"), way, dvm)


def requests(port, count):
    """Their rate. Connections are kept: opening one takes the kernel longer than nginx needs for a request."""
    command = ["ab", "-q", "-k", "-n", str(count), "-c", "20", f"http://127.0.0.1:{port}/"]
    return float(re.search(r"Requests per second: +([\d.]+)", subprocess.run(command, capture_output=True, text=True, check=True).stdout)[1])


@contextlib.contextmanager
def nginx():
    with tempfile.TemporaryDirectory(prefix="dvm-bench-") as folder:
        port = free_port()
        with open(f"{folder}/conf", "w") as conf:
            conf.write(NGINX.format(folder=folder, port=port))
        with subprocess.Popen(["nginx", "-c", f"{folder}/conf", "-e", f"{folder}/errors"], stderr=subprocess.DEVNULL) as server:
            wait_until(lambda: subprocess.run(["ab", "-q", "-n", "1", f"http://127.0.0.1:{port}/"], capture_output=True).returncode == 0)
            requests(port, 20_000)

            def run(way, dvm):
                with traced(way, dvm, server.pid, "libc.so", latency("libc", "recv")):
                    before = cpu_of(server.pid)
                    rate = requests(port, 200_000)
                    return {CPU: cpu_of(server.pid) - before, RATE: rate}

            yield run
            server.terminate()


def wait_until(is_true):
    for _ in range(300):
        if is_true():
            return
        time.sleep(0.1)
    sys.exit("a server does not start")


class Postgres:
    """A server with the tables of pgbench. It refuses to run as root."""

    def __init__(self, folder):
        self.folder, self.options = folder, {"user": "nobody", "group": "nogroup", "extra_groups": []} if os.geteuid() == 0 else {}
        if self.options:
            shutil.chown(folder, "nobody", "nogroup")
        self.programs = max(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
        self.call("initdb", "-D", f"{folder}/data", "-A", "trust", "-U", "bench", "--no-sync")
        self.server = self.start("postgres", "-D", f"{folder}/data", "-k", folder, "-c", "listen_addresses=", "-c", "autovacuum=off")

    def start(self, program, *arguments, **options):
        return subprocess.Popen([f"{self.programs}/{program}", *arguments], cwd=self.folder, stderr=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                text=True, **self.options, **options)

    def call(self, program, *arguments):
        with self.start(program, *arguments) as process:
            return process.communicate()[0]

    def client(self, program, *arguments):
        return program, "-h", self.folder, "-U", "bench", *arguments, "postgres"

    def ask(self, query):
        return self.call(*self.client("psql", "-Atc", query))

    def cpu_of_ended(self):
        """Seconds of the processes that have served clients."""
        with open(f"/proc/{self.server.pid}/stat") as stat:
            return sum(map(int, stat.read().rsplit(")")[-1].split()[13:15])) / os.sysconf("SC_CLK_TCK")

    @contextlib.contextmanager
    def locked(self):
        """A client holds the table, so that pgbench waits before its first transaction."""
        with self.start(*self.client("psql", "-q"), stdin=subprocess.PIPE) as holder:
            holder.stdin.write("begin; lock table pgbench_accounts;\\echo held\n")
            holder.stdin.flush()
            assert holder.stdout.readline() == "held\n"
            yield
            holder.stdin.close()

    def run(self, way, dvm):
        waiting = "select pid from pg_stat_activity where application_name = 'pgbench' and wait_event_type = 'Lock'"
        with contextlib.ExitStack() as stack:
            lock = stack.enter_context(contextlib.ExitStack())
            lock.enter_context(self.locked())
            before = self.cpu_of_ended()
            load = stack.enter_context(self.start(*self.client("pgbench", "-n", "-S", "-M", "prepared", "-t", str(QUERIES))))
            wait_until(lambda: self.ask(waiting))
            pid = int(self.ask(waiting))
            with traced(way, dvm, pid, "postgres", latency("postgres", "PortalRun")):
                begin = time.monotonic()
                lock.close()
                load.wait()
                seconds = time.monotonic() - begin
        wait_until(lambda: not os.path.exists(f"/proc/{pid}"))
        return {CPU: self.cpu_of_ended() - before, RATE: QUERIES / seconds}


@contextlib.contextmanager
def postgres():
    with tempfile.TemporaryDirectory(prefix="dvm-bench-") as folder:
        server = Postgres(folder)
        with server.server:
            wait_until(lambda: server.ask("select 1"))
            server.call(*server.client("pgbench", "-i", "-q"))
            yield server.run
            server.server.terminate()


PROGRAMS = {
    "python3": python,
    "python3-malloc": lambda: python(PYTHONMALLOC="malloc"),
    "sqlite3": lambda: contextlib.nullcontext(run_sqlite),
    "nginx": nginx,
    "postgres": postgres,
}
NEEDED = {"nginx": ("nginx", "ab"), "python3-malloc": ("python3",), "postgres": ("pgbench",)}


def measure(name, ways, dvm, rounds):
    figures = {way: [] for way in ways}
    with PROGRAMS[name]() as run:
        for _ in range(rounds):
            for way in ways:
                figures[way].append(run(way, dvm))
    for unit in figures["untraced"][0]:
        plain = [one[unit] for one in figures["untraced"]]
        print(f"{name}: untraced {spread(plain, 2)} {unit}", flush=True)
        for way in ways[1:]:
            ratios = [one[unit] / base for one, base in zip(figures[way], plain)]
            print(f"{name}: {way} {spread(ratios, 3)} times the {unit} of the untraced run", flush=True)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    dvm, rounds = os.path.realpath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 7
    ways = ["untraced", "agent"] + (["bpftrace"] if os.geteuid() == 0 and shutil.which("bpftrace") else [])
    for name in sys.argv[3:] or PROGRAMS:
        if missing := [one for one in NEEDED.get(name, (name,)) if not shutil.which(one)]:
            print(f"{name}: not installed: {', '.join(missing)}")
            continue
        measure(name, ways, dvm, rounds)


if __name__ == "__main__":
    main()
