#!/usr/bin/env python3
"""What clauses add to a call of a traced function, in ns: by an agent, by uprobes, and by bpftrace, alternating with untraced runs.

usage: agent.py DVM FOLDER-OF-TEST-PROGRAMS [ROUNDS]

A row gives the median and the quartiles of the rounds. uprobes and bpftrace need root. The program calls func(), of some 10 ns.
Other tracers that work in the traced thread follow, with what recording the call adds: uftrace, a fast tracepoint of gdb, LTTng-UST.
"""

import os
import shutil
import sys
import tempfile

from measuring import compiled, cost, spread
from peers import present

FAST, SLOW = 5_000_000, 200_000  # calls
SOURCE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../tests/programs/looper.c")

# By name: the script of dvm, and that of bpftrace.
CASES = {
    "count": ("E { @ = count(); }", "E { @ = count(); }"),
    "false predicate": ("E /arg0 == 1/ { @ = count(); }", "E /arg0 == 1/ { @ = count(); }"),
    "record": ("E { n += arg0 + arg1 + arg2 + arg3; }", "E { @n = (uint64)0 + arg0 + arg1 + arg2 + arg3; }"),
    "no record": ("E /arg0 == 1/ { n++; }", "E /arg0 == 1/ { @n++; }"),
    "two clauses": ("E /arg0 != 1/ { @a = count(); } E { @b[arg0 & 7] = count(); }", "E /arg0 != 1/ { @a = count(); } E { @b[arg0 & 7] = count(); }"),
    "sum by a key": ("E { @[arg0 & 7] = sum(arg0); }", "E { @[arg0 & 7] = sum(arg0); }"),
    "string": ("E { @[copyinstr(arg0)] = count(); }", "E { @[str(arg0)] = count(); }"),
    "name of the function": ("E { @[probefunc, probemod, arg0 & 7] = count(); }", "E { @[func, arg0 & 7] = count(); }"),
    "stack of two frames": ("E { @[ustack(2)] = count(); }", "E { @[ustack(2)] = count(); }"),
    "name of the thread": ("E { @[execname] = count(); }", "E { @[comm] = count(); }"),
    "self-> flag": ("E { self->in = 1; } R /self->in/ { @ = count(); self->in = 0; }", None),
    "entry to return": ("E { self->t = timestamp; } R /self->t/ { @ = quantize(timestamp - self->t); self->t = 0; }",
                        "E { @s[tid] = nsecs; } R /@s[tid]/ { @ = hist(nsecs - @s[tid]); delete(@s[tid]); }"),
}


def by_dvm(dvm, script, looper, backend):
    text = script.replace("E ", "pid$target:looper:func:entry ").replace("R ", "pid$target:looper:func:return ")
    calls = FAST if backend == "agent" else SLOW
    return cost([dvm, "run", "-q", "-x", f"backend={backend}", "-n", text, "-c", f"{looper} {calls}"])


def by_bpftrace(script, looper):
    text = script.replace("E ", f"uprobe:{looper}:func ").replace("R ", f"uretprobe:{looper}:func ")
    return cost(["bpftrace", "-e", text, "-c", f"{looper} {SLOW}"])


def compare_with_peers(source, rounds):
    """One way each, which records the call: not what a clause does with it."""
    with tempfile.TemporaryDirectory(prefix="dvm-bench-") as folder, open(source) as file:
        text = file.read()
        plain = compiled(folder, "looper", text)
        with present(folder, text) as peers:
            added = {name: [] for name in peers}
            for _ in range(rounds):
                untraced = cost([plain, str(FAST)])
                for name, peer in peers.items():
                    added[name].append(peer.cost(peer.calls) - untraced)
            for name, values in added.items():
                print(f"{name:20} {spread(values):>24}", flush=True)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    dvm, looper = sys.argv[1], os.path.realpath(os.path.join(sys.argv[2], "looper"))
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 9
    is_root = os.geteuid() == 0
    print(f"{'added ns a call':20} {'agent':>24} {'uprobe':>28} {'bpftrace':>28}")
    for name, (script, peer) in CASES.items():
        ways = {"agent": lambda: by_dvm(dvm, script, looper, "agent")}
        if is_root:
            ways["uprobe"] = lambda: by_dvm(dvm, script, looper, "uprobe")
        if is_root and peer and shutil.which("bpftrace"):
            ways["bpftrace"] = lambda: by_bpftrace(peer, looper)
        added = {way: [] for way in ways}
        for _ in range(rounds):
            plain = cost([looper, str(FAST)])
            for way, run in ways.items():
                added[way].append(run() - plain)
        cells = [spread(added[way]) if way in added else "-" for way in ("agent", "uprobe", "bpftrace")]
        print(f"{name:20} {cells[0]:>24} {cells[1]:>28} {cells[2]:>28}", flush=True)
    compare_with_peers(SOURCE, rounds)


if __name__ == "__main__":
    main()
