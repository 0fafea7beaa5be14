#!/usr/bin/env python3
"""The ns that clauses add to a call of a traced function: by an agent, by uprobes, and by bpftrace, alternating with untraced runs.

usage: agent.py DVM [ROUNDS]      (needs a C compiler)

A row gives the median and the quartiles of the rounds, each with the function at four addresses. uprobes and bpftrace need root.
The column "by hand" is the same work by a stub in programs/called.c, and its first row a jump to a stub that does nothing. "two rdtsc" are
the two readings of the clock that a latency needs, and nothing else.
The program calls func(), of some 5 ns, and has frame pointers. Other tracers that work in the traced thread follow, with what recording the call adds:
uftrace, a fast tracepoint of gdb, LTTng-UST.
"""

import os
import shutil
import sys
import tempfile

import lifetime  # noqa: F401
from measuring import BY_AGENT, compiled, cost, lost_in, spread, timed
from peers import present

FAST, SLOW = 5_000_000, 200_000  # calls
FEWER, PAUSE = 400_000, 1_000    # calls that leave records, which dvm reads in a pause of so many us after each 5,000
TRIES = 5
HERE = os.path.dirname(os.path.realpath(__file__))
ROOT = os.path.dirname(HERE)
SOURCE, PEER_SOURCE = os.path.join(HERE, "programs/called.c"), os.path.join(HERE, "../tests/programs/looper.c")
PADS = (0, 16, 32, 48)  # bytes before the function, modulo a cache line
BY_HAND = {"jump": "jump", "count": "count", "false predicate": "predicate", "entry to return": "latency"}

# By name: the script of dvm, and that of bpftrace.
CASES = {
    "jump": (None, None),
    "count": ("E { @ = count(); }", "E { @ = count(); }"),
    "false predicate": ("E /arg0 == 1/ { @ = count(); }", "E /arg0 == 1/ { @ = count(); }"),
    "record of 64 bytes": ("E { last[0] = arg0 + arg1 + arg2 + arg3; }", "E { @n = (uint64)0 + arg0 + arg1 + arg2 + arg3; }"),
    "no record": ("E /arg0 == 1/ { last[0] = arg0; }", "E /arg0 == 1/ { @n++; }"),
    "two clauses": ("E /arg0 != 1/ { @a = count(); } E { @b[arg0 & 7] = count(); }", "E /arg0 != 1/ { @a = count(); } E { @b[arg0 & 7] = count(); }"),
    "sum by a key": ("E { @[arg0 & 7] = sum(arg0); }", "E { @[arg0 & 7] = sum(arg0); }"),
    "string": ("E { @[copyinstr(arg0)] = count(); }", "E { @[str(arg0)] = count(); }"),
    "string on the heap": ("E { @[copyinstr(arg1)] = count(); }", "E { @[str(arg1)] = count(); }"),
    "name of the function": ("E { @[probefunc, probemod, arg0 & 7] = count(); }", "E { @[func, arg0 & 7] = count(); }"),
    "stack of two frames": ("E { @[ustack(2)] = count(); }", "E { @[ustack(2)] = count(); }"),
    "stack of three frames": ("E { @[ustack(3)] = count(); }", "E { @[ustack(3)] = count(); }"),
    "name of the thread": ("E { @[execname] = count(); }", "E { @[comm] = count(); }"),
    "self-> flag": ("E { self->in = 1; } R /self->in/ { @ = count(); self->in = 0; }", None),
    "entry to return": ("E { self->t = timestamp; } R /self->t/ { @ = quantize(timestamp - self->t); self->t = 0; }",
                        "E { @s[tid] = nsecs; } R /@s[tid]/ { @ = hist(nsecs - @s[tid]); delete(@s[tid]); }"),
}


def by_dvm(dvm, script, program, backend):
    """By an agent, again if firings were lost: these cost less."""
    text = script.replace("E ", "pid$target:a.out:func:entry ").replace("R ", "pid$target:a.out:func:return ")
    options = BY_AGENT if backend == "agent" else ("-q", "-x", f"backend={backend}")
    calls = f"{FEWER} none {PAUSE}" if "last[" in script else FAST if backend == "agent" else SLOW
    for _ in range(TRIES):
        ns, said = timed([dvm, "run", *options, "-x", "ustackunwind=0", "-n", text, "-c", f"{program} {calls}"])
        if backend != "agent" or lost_in(said) == 0:
            return ns
    sys.exit(f"{script}: {lost_in(said)} firings were lost")


def by_bpftrace(script, program):
    text = script.replace("E ", f"uprobe:{program}:func ").replace("R ", f"uretprobe:{program}:func ")
    return cost(["bpftrace", "-e", text, "-c", f"{program} {SLOW}"])


def ways_of(dvm, name, is_root):
    """By their columns: functions of a program, which return ns a call."""
    script, peer = CASES[name]
    ways = {}
    if name in BY_HAND:
        ways["by hand"] = lambda program: cost([program, str(FAST), BY_HAND[name]])
    if name == "entry to return":  # a part of which the processor decides alone
        ways["two rdtsc"] = lambda program: cost([program, str(FAST), "clock"])
    if script:
        ways["agent"] = lambda program: by_dvm(dvm, script, program, "agent")
    if script and is_root:
        ways["uprobe"] = lambda program: by_dvm(dvm, script, program, "uprobe")
    if peer and is_root and shutil.which("bpftrace"):
        ways["bpftrace"] = lambda program: by_bpftrace(peer, program)
    return ways


def build_programs(folder):
    """func() at each address of PADS."""
    with open(SOURCE) as file:
        source = file.read()
    return [compiled(folder, f"called_{pad}", source, "-O1", "-fno-omit-frame-pointer", f"-DPAD={pad}", f"-I{ROOT}") for pad in PADS]


def added_costs(ways, programs, rounds):
    """By the ways: ns that a call takes longer than in the untraced run just before."""
    added = {way: [] for way in ways}
    for _ in range(rounds):
        for program in programs:
            untraced = cost([program, str(FAST)])
            for way, run in ways.items():
                added[way].append(run(program) - untraced)
    return added


def compare(dvm, rounds):
    columns = ("two rdtsc", "by hand", "agent", "uprobe", "bpftrace")
    print(f"{'added ns a call':22}" + "".join(f" {column:>24}" for column in columns))
    with tempfile.TemporaryDirectory(prefix="dvm-bench-") as folder:
        programs = build_programs(folder)
        for name in CASES:
            added = added_costs(ways_of(dvm, name, os.geteuid() == 0), programs, rounds)
            print(f"{name:22}" + "".join(f" {spread(added[way]) if way in added else '-':>24}" for way in columns), flush=True)


def peers_costs(rounds):
    """By the peers: ns that recording a call adds, which is not what a clause does with it."""
    with tempfile.TemporaryDirectory(prefix="dvm-bench-") as folder, open(PEER_SOURCE) as file:
        text = file.read()
        plain = compiled(folder, "looper", text)
        with present(folder, text) as peers:
            added = {name: [] for name in peers}
            for _ in range(rounds):
                untraced = cost([plain, str(FAST)])
                for name, peer in peers.items():
                    added[name].append(peer.cost(peer.calls) - untraced)
    return added


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    compare(sys.argv[1], rounds)
    for name, values in peers_costs(rounds).items():
        print(f"{name:22} {spread(values):>24}", flush=True)


if __name__ == "__main__":
    main()
