#!/usr/bin/env python3
"""The goals of an agent and what it reaches, each beside bpftrace, other tracers and stubs written by hand in the same run.

usage: agent_goals.py DVM [ROUNDS [TITLE...]]      (3 rounds; needs a C compiler and an idle machine; bpftrace and redis need root)

A row gives the goal, then the median and the quartiles of the rounds for the agent, then the same for the peers. "ns" are those that a
call of the traced function takes longer. A goal is missed if the median is beyond it, in doubt if the better quartile is not. The exit
status is 1 if a goal is missed. TITLE selects rows by the beginning of their titles. agent.py, agent_load.py and programs/ measure
more, and say how.
"""

import os
import shutil
import statistics
import sys
import tempfile
from typing import Callable, NamedTuple

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(1, os.path.join(HERE, "programs"))
import lifetime  # noqa: E402, F401
import agent  # noqa: E402
import agent_load as load  # noqa: E402
import redis_latency as redis  # noqa: E402
import throughput  # noqa: E402
from measuring import compiled, spread  # noqa: E402

IS_ROOT = os.geteuid() == 0
REQUESTS, PAIRS = 200_000, 3
RECORDS, COUNTS = ("{ last[0] = arg0; }", 3_000_000), ("{ @ = count(); }", 10_000_000)  # firings a second


class Bench:
    """Programs, and figures that several rows share."""

    def __init__(self, dvm, rounds, folder):
        self.dvm, self.rounds, self.folder, self.known = dvm, rounds, folder, {}

    def once(self, name, make):
        if name not in self.known:
            self.known[name] = make()
        return self.known[name]

    def program(self, name, source, *options, language="c"):
        return self.once(name, lambda: compiled(self.folder, name, source, *load.FAST_THREADS, *options, language=language))

    def times(self, measure):
        return [measure() for _ in range(self.rounds)]


def clause(name):
    def measure(bench):
        programs = bench.once("called", lambda: agent.build_programs(bench.folder))
        ways = agent.ways_of(bench.dvm, name, IS_ROOT)
        ways.pop("uprobe", None)
        return agent.added_costs(ways, programs[::2], bench.rounds)
    return measure


def four_threads(bench):
    program = load.thread_program(bench.folder)
    added = bench.times(lambda: load.added_by_threads(bench.dvm, program))
    return {"agent": [four / one for one, four in added]}


def many_probes(bench):
    return bench.once("pauses", lambda: load.pause_program(bench.folder))


def enabling(bench):
    program, ways = many_probes(bench), ("agent", "uprobe") if IS_ROOT else ("agent",)
    rows = bench.times(lambda: [load.enabling(bench.dvm, program, way) for way in ways])
    return dict(zip(ways, zip(*rows)))


def pause(bench):
    program = many_probes(bench)
    rows = bench.times(lambda: [load.pause(tracer, program, 8) for tracer in (bench.dvm, None)])
    return dict(zip(("agent", "untraced"), zip(*rows)))


def memory(bench):
    program = bench.program("memory", load.MEMORY)
    return {"agent": bench.times(lambda: load.memory_of_thread(bench.dvm, program))}


def firings(figure, clause_and_rate):
    """figure: the index in what firing() returns."""
    def measure(bench):
        program = bench.program("rates", load.RATES)
        results = bench.once(clause_and_rate, lambda: bench.times(lambda: load.firing(bench.dvm, program, *clause_and_rate)))
        return {"agent": [result[figure] for result in results]}
    return measure


def locks(shared):
    def measure(bench):
        program = bench.program("locks", load.LOCKS, "-std=c++20", language="c++")
        times = load.lock_times(bench.dvm, program, shared, bench.rounds)
        untraced = times.pop("untraced")
        return {way: [time / plain for time, plain in zip(values, untraced)] for way, values in times.items()}
    return measure


def redis_requests(bench):
    if missing := [name for name in ("redis-server", "redis-benchmark", "redis-cli") if not shutil.which(name)]:
        return f"not installed: {', '.join(missing)}"
    if not IS_ROOT:
        return "needs root"
    samples = redis.compare(bench.dvm, bench.rounds, REQUESTS)
    return {name: redis.ratios_of(samples, name) for name in samples if name != "untraced"}


def python(has_peer, **environment):
    """Several pairs a round: a pair scatters by some hundredths."""
    def measure(bench):
        with throughput.python(**environment) as run:
            ratios = {"agent": bench.times(lambda: statistics.median(ratio(run, bench.dvm, "agent") for _ in range(PAIRS)))}
            if has_peer and IS_ROOT and shutil.which("bpftrace"):
                ratios["bpftrace"] = bench.times(lambda: ratio(run, bench.dvm, "bpftrace"))
        return ratios
    return measure


def ratio(run, dvm, way):
    untraced = run("untraced", dvm)[throughput.CPU]
    return run(way, dvm)[throughput.CPU] / untraced


class Row(NamedTuple):
    title: str
    goal: float | None  # at most; None: only for comparison
    unit: str
    measure: Callable  # of a Bench: values by the way, those of the agent among them; or why there are none
    digits: int = 1
    is_least: bool = False  # the goal is: at least


ROWS = (
    Row("@ = count()", 5, "ns", clause("count")),
    Row("false predicate on an argument", 3, "ns", clause("false predicate")),
    Row("@[copyinstr(arg0)] = count()", 15, "ns", clause("string")),
    Row("the same of a string on the heap", 15, "ns", clause("string on the heap")),
    Row("entry to return, quantize", 25, "ns", clause("entry to return")),
    Row("@[ustack(3)] = count()", 20, "ns", clause("stack of three frames")),
    Row("record of 64 bytes to dvm", 20, "ns", clause("record of 64 bytes")),
    Row("four threads on one probe", 1.1, "times one", four_threads, 2),
    Row("2,000 probes on after the start", 300, "ms", enabling, 0),
    Row("longest gap, 2,000 probes, 8 threads", 5, "ms", pause, 2),
    Row("memory of a thread", 1024, "kB", memory, 0),
    Row("dvm's CPU, 10 M counts a second", 2, "%", firings(0, COUNTS), 2),
    Row("lost, 3 M records a second", 0, "records", firings(2, RECORDS), 0),
    Row("dvm's CPU, 3 M records a second", None, "%", firings(0, RECORDS), 1),
    Row("redis-benchmark SET", 0.98, "times untraced", redis_requests, 3, True),
    Row("python3, sizes of malloc", 1.1, "times untraced", python(True), 3),
    # With bpftrace it takes more than twenty times as long.
    Row("python3, each object by malloc", 1.1, "times untraced", python(False, PYTHONMALLOC="malloc"), 3),
    Row("contended table, lock times", 1.5, "times untraced", locks("table"), 2),
    Row("contended counter, the worst case", None, "times untraced", locks("counter"), 2),
)


def verdict(row, values):
    if row.goal is None:
        return "-"
    sign = -1 if row.is_least else 1
    low, median, high = (sign * value for value in (statistics.quantiles(values, n=4) if len(values) > 1 else 3 * values))
    if median <= sign * row.goal:
        return "met"
    return "in doubt" if min(low, high) <= sign * row.goal else "MISSED"


def shown(row, bench):
    """Its verdict, after its line has been printed."""
    goal = "-" if row.goal is None else f"{'>=' if row.is_least else '<='} {row.goal:g}"
    head = f"{row.title:38} {goal:>8} {row.unit:14}"
    figures = row.measure(bench)
    if isinstance(figures, str):
        print(f"{head} {figures}", flush=True)
        return "-"
    mine = list(figures.pop("agent"))
    peers = ", ".join(f"{way} {spread(list(values), row.digits)}" for way, values in figures.items())
    said = verdict(row, mine)
    print(f"{head} {spread(mine, row.digits):>24} {said:9} {peers}", flush=True)
    return said


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    rounds, titles = int(sys.argv[2]) if len(sys.argv) > 2 else 3, tuple(sys.argv[3:])
    rows = [row for row in ROWS if not titles or row.title.startswith(titles)]
    print(f"{'':38} {'goal':>8} {'':14} {'agent':>24} {'':9} peers")
    with tempfile.TemporaryDirectory(prefix="dvm-bench-") as folder:
        bench = Bench(os.path.realpath(sys.argv[1]), rounds, folder)
        missed = [row.title for row in rows if shown(row, bench) == "MISSED"]
    if not titles:
        print("what recording the call adds, ns: ", end="", flush=True)
        print(", ".join(f"{name} {spread(values)}" for name, values in agent.peers_costs(rounds).items()))
    sys.exit(f"missed: {'; '.join(missed)}" if missed else 0)


if __name__ == "__main__":
    main()
