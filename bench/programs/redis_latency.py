#!/usr/bin/env python3
"""What tracing costs a real program: redis-server under redis-benchmark SET, untraced, with an agent, with uprobes and with bpftrace,
which take the latency of call() from entry to return. They alternate in each round.

usage: redis_latency.py DVM [ROUNDS [REQUESTS]]      (7 rounds of 300,000 requests; root)

Prints the median and the quartiles of four figures: requests per second, and their ratio to the untraced ones of the same round; CPU
time of redis-server for a request, CPU time of the tracer for a request. redis-server runs on a free port and keeps nothing.
"""

import os
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
import lifetime  # noqa: E402, F401

CLIENTS = 50
DVM_SCRIPT = """BEGIN { printf("live\\n"); }
pid$target::call:entry { self->begin = timestamp; }
pid$target::call:return /self->begin/ { @ = quantize(timestamp - self->begin); self->begin = 0; }"""
BPFTRACE_SCRIPT = """BEGIN {{ printf("live\\n"); }}
uprobe:{0}:call {{ @begin[tid] = nsecs; }}
uretprobe:{0}:call /@begin[tid]/ {{ @ = hist(nsecs - @begin[tid]); delete(@begin[tid]); }}"""


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def start_redis(port):
    server = subprocess.Popen(["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
                              stdout=subprocess.DEVNULL)
    while subprocess.run(["redis-cli", "-p", str(port), "ping"], capture_output=True, text=True).stdout != "PONG\n":
        if server.poll() is not None:
            sys.exit(f"redis-server ended with status {server.returncode}")
        time.sleep(0.05)
    return server


def cpu_of(pid):
    """Seconds of CPU of all threads that the process has."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat") as file:
            total += int(file.read().split()[0])
    return total / 1e9


def run_benchmark(port, requests):
    """Requests per second."""
    command = ["redis-benchmark", "-p", str(port), "-t", "set", "-n", str(requests), "-c", str(CLIENTS), "--csv"]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return float(out.strip().split("\n")[-1].split(",")[1].strip('"'))


def start_tracer(command):
    """Returns once its probes are live."""
    tracer = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for line in tracer.stdout:
        if line == "live\n":
            return tracer
    sys.exit(f"{command[0]} does not trace: {tracer.stderr.read()}")


def end_tracer(tracer):
    """It must have seen the requests."""
    tracer.send_signal(signal.SIGINT)
    out, errors = tracer.communicate()
    if "@@" not in out:
        sys.exit(f"{tracer.args[0]} has counted nothing: {out}{errors}")


def measure(command, redis, port, requests):
    """Requests per second; microseconds of redis-server, then of the tracer, for a request."""
    tracer = start_tracer(command) if command else None
    pids = [redis.pid] + ([tracer.pid] if tracer else [])
    before = [cpu_of(pid) for pid in pids]
    rate = run_benchmark(port, requests)
    used = [1e6 * (cpu_of(pid) - since) / requests for pid, since in zip(pids, before)]
    if tracer:
        end_tracer(tracer)
    return [rate, *used]


def print_figure(name, unit, samples):
    low, middle, high = statistics.quantiles(samples, n=4, method="inclusive")
    print(f"  {name:<24} {middle:>10.2f}  ({low:.2f} to {high:.2f}) {unit}")


def commands(dvm, redis):
    all_of_them = {"untraced": None}
    for backend in ("agent", "uprobe"):
        all_of_them[backend] = [dvm, "run", "-q", "-x", f"backend={backend}", "-x", "switchrate=10hz", "-n", DVM_SCRIPT, "-p", str(redis.pid)]
    if shutil.which("bpftrace"):
        program = os.path.realpath(f"/proc/{redis.pid}/exe")
        all_of_them["bpftrace"] = ["bpftrace", "-p", str(redis.pid), "-e", BPFTRACE_SCRIPT.format(program)]
    else:
        print("bpftrace is not installed (Debian: apt install bpftrace): measured without it")
    return all_of_them


def compare(dvm, rounds, requests):
    """By the tracers: of each round, what measure() returns."""
    port = free_port()
    redis = start_redis(port)
    try:
        run_benchmark(port, requests // 10)
        tracers = commands(dvm, redis)
        samples = {name: [] for name in tracers}
        for _ in range(max(rounds, 2)):
            for name, command in tracers.items():
                samples[name].append(measure(command, redis, port, requests))
    finally:
        redis.terminate()
        redis.wait()
    return samples


def ratios_of(samples, name):
    """Of requests per second to those of the untraced run of the same round."""
    return [one[0] / untraced[0] for one, untraced in zip(samples[name], samples["untraced"])]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    missing = [name for name in ("redis-server", "redis-benchmark", "redis-cli") if not shutil.which(name)]
    if missing:
        sys.exit(f"not installed: {', '.join(missing)} (Debian: apt install redis-server redis-tools)")
    if os.geteuid() != 0:
        sys.exit("needs root, to trace redis-server")
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    requests = int(sys.argv[3]) if len(sys.argv) > 3 else 300_000
    samples = compare(sys.argv[1], rounds, requests)
    for name, all_of_one in samples.items():
        print(name)
        for figure, of_figure in zip([("requests", "a second"), ("redis-server", "us of CPU a request"), ("tracer", "us of CPU a request")],
                                     zip(*all_of_one)):
            print_figure(*figure, of_figure)
        print_figure("requests", "times the untraced ones", ratios_of(samples, name))


if __name__ == "__main__":
    main()
