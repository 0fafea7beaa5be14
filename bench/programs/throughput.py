#!/usr/bin/env python3
"""What tracing by an agent costs python3, sqlite3 and nginx, with bpftrace beside it. Runs alternate with untraced ones.

usage: throughput.py DVM [ROUNDS [PROGRAM...]]      (7 rounds; bpftrace needs root)

Prints the median and the quartiles of the ratio to the untraced run of the same round: of the CPU time of python3 (sizes of
malloc; as python3-malloc, each object is allocated by malloc) and sqlite3 (latency of sqlite3_step), and of the requests that nginx answers (latency of recv). redis_latency.py is such a benchmark
of redis-server.
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
import lifetime  # noqa: E402, F401
from measuring import spread  # noqa: E402
from redis_latency import end_tracer, free_port, start_tracer  # noqa: E402

PYTHON = """
import json, sys, time
print("ready", flush=True)
sys.stdin.readline()
begin = time.process_time()
for _ in range(600):
    text = json.dumps([{"id": i, "name": "n%d" % i, "sizes": list(range(i % 30))} for i in range(200)])
    json.loads(text)
print("seconds", time.process_time() - begin)
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


def path_of(pid, module):
    with open(f"/proc/{pid}/maps") as maps:
        return next(line.split()[-1] for line in maps if f"/{module}" in line)


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


def run_alone(argv, ready, go, result, module, scripts, way, dvm, **environment):
    """Seconds of a program that says when it is ready, works, and waits for the end of its input."""
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, **environment}) as program:
        program.stdin.write(ready)
        program.stdin.flush()
        assert program.stdout.readline() == "ready\n"
        with traced(way, dvm, program.pid, module, scripts):
            program.stdin.write(go)
            program.stdin.write(".print done\n" if ready else "")
            program.stdin.flush()
            out = []
            for line in program.stdout:
                out.append(line)
                if line == "done\n" or line.startswith("seconds"):
                    break
            time.sleep(0.1)
        program.kill()
    return sum(float(seconds) for seconds in re.findall(result, "".join(out)))


def run_python(way, dvm, **environment):
    return run_alone(["/usr/bin/python3", "-c", PYTHON], "", "\n", r"seconds ([\d.]+)", "libc.so", SIZES, way, dvm, **environment)


def run_allocating(way, dvm):
    return run_python(way, dvm, PYTHONMALLOC="malloc")


def run_sqlite(way, dvm):
    return run_alone(["sqlite3", "-batch", ":memory:"], SQL, QUERY, r"user ([\d.]+)", "libsqlite3.so",
                     latency("libsqlite3*", "sqlite3_step"), way, dvm)


def run_nginx(way, dvm):
    """Requests a second."""
    with tempfile.TemporaryDirectory(prefix="dvm-bench-") as folder:
        port = free_port()
        with open(f"{folder}/conf", "w") as conf:
            conf.write(NGINX.format(folder=folder, port=port))
        server = subprocess.Popen(["nginx", "-c", f"{folder}/conf", "-e", f"{folder}/errors"], stderr=subprocess.DEVNULL)
        try:
            time.sleep(0.3)
            with traced(way, dvm, server.pid, "libc.so", latency("libc", "recv")):
                out = subprocess.run(["ab", "-q", "-n", "20000", "-c", "20", f"http://127.0.0.1:{port}/"], capture_output=True, text=True).stdout
        finally:
            server.terminate()
            server.wait()
    return float(re.search(r"Requests per second: +([\d.]+)", out)[1])


PROGRAMS = {"python3": run_python, "python3-malloc": run_allocating, "sqlite3": run_sqlite, "nginx": run_nginx}
NEEDED = {"nginx": ("nginx", "ab"), "python3-malloc": ("python3",)}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    dvm, rounds = os.path.realpath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 7
    ways = ["untraced", "agent"] + (["bpftrace"] if os.geteuid() == 0 and shutil.which("bpftrace") else [])
    for name in sys.argv[3:] or PROGRAMS:
        if missing := [one for one in NEEDED.get(name, (name,)) if not shutil.which(one)]:
            print(f"{name}: not installed: {', '.join(missing)}")
            continue
        figures = {way: [] for way in ways}
        for _ in range(rounds):
            for way in ways:
                figures[way].append(PROGRAMS[name](way, dvm))
        unit = "requests a second" if name == "nginx" else "s of CPU"
        print(f"{name}: untraced {spread(figures['untraced'], 2)} {unit}", flush=True)
        for way in ways[1:]:
            ratios = [value / plain for value, plain in zip(figures[way], figures["untraced"])]
            print(f"{name}: {way} {spread(ratios, 3)} times the untraced run", flush=True)


if __name__ == "__main__":
    main()
