#!/usr/bin/env python3
"""Compares dvm's tools with bpftrace: both trace one workload at the same time, and their counts are compared.

    bench/tools/compare.py [--dvm PATH] [TOOL...]

A program is one of ours for bpftrace, bpftrace's own tool, or a tool of bcc (package libbpf-tools, or its folder by --bcc; rows of tools that are not
there are left out). Needs root, bpftrace and python3. The workload waits until both tools have their probes on. Exact rows must agree to the last call.
Sampled or timed rows may differ by the share that the row allows. The status is 1 if a row does not agree.
"""

import argparse
import dataclasses
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), ".."))
import lifetime  # noqa: E402, F401

TRACEFS = "/sys/kernel/tracing"
READY = 'interval:ms:50 /!@ready/ { @ready = 1; printf("ready\\n"); }'

# What the traced python does once it may begin.
WORK = {
    "calls": "for i in range(1000): os.umask(i % 4); os.getppid()",
    "files": "for i in range(300): os.close(os.open('/etc/passwd', os.O_RDONLY))",
    "threads": "for i in range(50):\n t = threading.Thread(target=int); t.start(); t.join()",
    "programs": "for i in range(30): subprocess.run(['/bin/true'])",
    "sleeps": "for i in range(200): time.sleep(0.005)",
    "burns": "end = time.time() + 3\nwhile time.time() < end: pass",
    "blocks": "kept = [bytearray(300000) for i in range(40)]\nfor i in range(500): bytearray(200000)",
    "aligned": ("import ctypes\nlibc, block = ctypes.CDLL(None), ctypes.c_void_p()\n"
                "for i in range(3000):\n libc.posix_memalign(ctypes.byref(block), 64, 1000 + i)\n if i % 3 == 0: libc.free(block)"),
    "locks": ("import ctypes\nlibc, mutex = ctypes.CDLL(None), ctypes.create_string_buffer(64)\n"
              "for i in range(300): libc.pthread_mutex_lock(mutex); time.sleep(0.002); libc.pthread_mutex_unlock(mutex)"),
    "collections": "import gc\nfor i in range(50): gc.collect()",
    "queries": "for i in range(200): server.query()",
    "disk": "fd = os.open(name, os.O_CREAT | os.O_WRONLY | os.O_DIRECT)\nm = mmap.mmap(-1, 4096)\nfor i in range(300): os.write(fd, m)",
}

# A library with the markers of PostgreSQL, which the traced python loads before it waits.
SERVER = """#include "server.h"
void query(void) { POSTGRESQL_QUERY_START("select 1"); POSTGRESQL_QUERY_DONE("select 1"); }
"""
PROVIDER = "provider postgresql { probe query__start(char *); probe query__done(char *); };"


@dataclasses.dataclass
class Row:
    tool: str
    work: str
    arguments: list  # of the tool; PID stands for the traced process
    program: str  # of bpftrace, likewise; a path: that of its tool; "bcc: TOOL ARGUMENTS"
    ours: str  # a pattern: its numbers are added up
    theirs: str
    unit: str = "calls"
    most_apart: float = 0  # as a share of the larger number


HISTOGRAM = r"(?m)^ +-?\d+ \|[@ ]* (\d+) *$"
BUCKETS = r"(?m)^[\[\(].*\) +(\d+) \|"
BCC_BUCKETS = r"(?m)^ +\d+ -> \d+ +: (\d+) "
OFF_CPU = ("tracepoint:sched:sched_switch { if (args->prev_pid == PID && args->prev_state != 0) { @s[args->prev_pid] = nsecs; } "
           "if (@s[args->next_pid]) { @ = sum((nsecs - @s[args->next_pid]) / 1000); delete(@s[args->next_pid]); } }")
# Mutexes that a process holds, with ns since it took each.
HOLDS = ("uprobe:libc:pthread_mutex_lock /pid == PID/ { @m[tid] = arg0; } "
         "uretprobe:libc:pthread_mutex_lock /@m[tid]/ { @h[tid, @m[tid]] = nsecs; delete(@m[tid]); } "
         "uprobe:libc:pthread_mutex_unlock /@h[tid, arg0]/ { @ = %s; delete(@h[tid, arg0]); }")
# Live bytes of malloc and calloc.
LIVE = ("uprobe:libc:malloc /pid == PID/ { @z[tid] = arg0; } uprobe:libc:calloc /pid == PID/ { @z[tid] = arg0 * arg1; } "
        "uretprobe:libc:malloc,uretprobe:libc:calloc /@z[tid]/ { @live[retval] = @z[tid]; @ = sum(@z[tid]); delete(@z[tid]); } "
        "uprobe:libc:free /@live[arg0]/ { @freed = sum(@live[arg0]); delete(@live[arg0]); }")
LIVE_ALIGNED = (LIVE + " uprobe:libc:posix_memalign /pid == PID/ { @a[tid] = arg0; @y[tid] = arg2; } uretprobe:libc:posix_memalign /@a[tid]/ "
                "{ @live[*(uint64 *)@a[tid]] = @y[tid]; @ = sum(@y[tid]); delete(@a[tid]); delete(@y[tid]); }")
ROWS = [
    Row("funccount", "calls", ["getppid", "libc", "-p", "PID"], "uprobe:libc:getppid /pid == PID/ { @ = count(); }",
        r"getppid +(\d+)", r"@: (\d+)"),
    Row("argdist", "calls", ["-v", "umask", "libc", "-p", "PID"], "uprobe:libc:umask /pid == PID && arg0 == 3/ { @ = count(); }",
        r"umask +3 +(\d+)", r"@: (\d+)", "calls with 3"),
    Row("funclatency", "calls", ["umask", "libc", "-p", "PID"],
        "uprobe:libc:umask /pid == PID/ { @s[tid] = nsecs; } uretprobe:libc:umask /@s[tid]/ { @ = hist(nsecs - @s[tid]); delete(@s[tid]); }",
        HISTOGRAM, BUCKETS),
    Row("stackcount", "calls", ["-t", "10000", "getppid", "libc", "-p", "PID"], "uprobe:libc:getppid /pid == PID/ { @[ustack] = count(); }",
        r"(?m)^ +(\d+)$", r"\]: (\d+)"),
    Row("threadsnoop", "threads", ["-p", "PID"], "uprobe:libc:pthread_create /pid == PID/ { @ = count(); }",
        r"(?m)^\d+ +\d+ +(\d)\d* ", r"@: (\d+)", "threads"),
    Row("syscount", "calls", ["-p", "PID"], "tracepoint:raw_syscalls:sys_enter /pid == PID && args->id == 110/ { @ = count(); }",
        r"getppid +(\d+)", r"@: (\d+)"),
    Row("opensnoop", "files", ["-p", "PID"], "tracepoint:syscalls:sys_enter_openat /pid == PID/ { @ = count(); }",
        r"(?m)^\d+ .*/etc/(passwd)$", r"@: (\d+)", "opens"),
    Row("execsnoop", "programs", ["-n", "true"], 'tracepoint:sched:sched_process_exec /comm == "true"/ { @ = count(); }',
        r"(?m)^\d+ +\d+ .*\b(true)$", r"@: (\d+)", "programs"),
    Row("runqlat", "sleeps", ["-p", "PID"],
        "tracepoint:sched:sched_wakeup /args->pid == PID/ { @q[args->pid] = nsecs; } "
        "tracepoint:sched:sched_switch { if (args->prev_pid == PID && args->prev_state == 0) { @q[args->prev_pid] = nsecs; } "
        "if (@q[args->next_pid]) { @ = hist(nsecs - @q[args->next_pid]); delete(@q[args->next_pid]); } }",
        HISTOGRAM, BUCKETS, "waits", 0.02),
    Row("biolatency", "disk", [], "tracepoint:block:block_rq_issue { @ = count(); }", HISTOGRAM, r"@: (\d+)", "requests", 0.05),
    Row("profile", "burns", ["-t", "10000", "-p", "PID"], "profile:hz:99 /pid == PID/ { @[ustack] = count(); }", r"(?m)^ +(\d+)$", r"\]: (\d+)",
        "samples", 0.1),
    Row("offcputime", "sleeps", ["-t", "10000", "-p", "PID"],
        OFF_CPU,
        r"(?m)^ +(\d+)$", r"@: (\d+)", "us", 0.05),
    Row("offcputime", "sleeps", ["-k", "-t", "10000", "-p", "PID"], OFF_CPU, r"(?m)^ +(\d+)$", r"@: (\d+)", "us, by kernel stack", 0.05),
    Row("memleak", "blocks", ["-t", "100000", "-p", "PID"], LIVE, r"(?m)^ +(-?\d+) bytes$", "LIVE", "live bytes", 0.02),
    Row("memleak", "aligned", ["-t", "100000", "-p", "PID"], LIVE_ALIGNED, r"(?m)^ +(-?\d+) bytes$", "LIVE", "live bytes, aligned", 0.02),
    Row("plockstat", "locks", ["-w", "1000000000", "-p", "PID"], HOLDS % "count()", r"(?m)^ +(\d+) +\d+ \S+ ", r"@: (\d+)", "holds"),
    Row("plockstat", "locks", ["-w", "1000000000", "-p", "PID"], HOLDS % "sum(nsecs - @h[tid, arg0])", r"(?m)^ +\d+ +(\d+) \S+ ",
        r"@: (\d+)", "ns held", 0.05),
    Row("ugc", "collections", ["-p", "PID"], "usdt:PYTHON:python:gc__done /pid == PID/ { @ = count(); }", r"(?m)^\d+ +(python) +\d+$", r"@: (\d+)",
        "collections"),
    Row("ugc", "collections", ["-p", "PID"],
        "usdt:PYTHON:python:gc__start /pid == PID/ { @s = nsecs; } usdt:PYTHON:python:gc__done /@s/ { @ = sum((nsecs - @s) / 1000); @s = 0; }",
        r"(?m)^\d+ +python +(\d+)$", r"@: (\d+)", "us in collections", 0.05),
    Row("dbslower", "queries", ["-m", "0", "-p", "PID"], "usdt:SERVER:postgresql:query__done /pid == PID/ { @ = count(); }",
        r"(?m)(select) 1$", r"@: (\d+)", "queries"),
    Row("funclatency", "calls", ["umask", "libc", "-p", "PID"], "bcc: funclatency -p PID c:umask", HISTOGRAM, BCC_BUCKETS,
        "calls, bcc"),
    Row("syscount", "calls", ["-p", "PID"], "bcc: syscount -p PID -T 400", r"getppid +(\d+)", r"getppid +(\d+)", "calls, bcc"),
    Row("opensnoop", "files", ["-p", "PID"], "bcc: opensnoop -p PID", r"(?m)^\d+ .*/etc/(passwd)$", r"(?m)/etc/(passwd)$", "opens, bcc"),
    Row("execsnoop", "programs", ["-n", "true"], "bcc: execsnoop -n true", r"(?m)^\d+ +\d+ .*\b(true)$", r"(?m)^(true) .*/bin/true", "programs, bcc"),
    Row("runqlat", "sleeps", ["-p", "PID"], "bcc: runqlat -p PID", HISTOGRAM, BCC_BUCKETS, "waits, bcc", 0.02),
    Row("biolatency", "disk", [], "bcc: biolatency", HISTOGRAM, BCC_BUCKETS, "requests, bcc", 0.05),
    Row("offcputime", "sleeps", ["-b", "-t", "10000", "-p", "PID"], "bcc: offcputime -p PID", r"(?m)^ +(\d+)$", r"(?m)^ +(\d+)$",
        "us, by both stacks, bcc", 0.05),
    Row("syscount", "calls", [], "/usr/sbin/syscount.bt", r"getppid +(\d+)", r"@syscall\[110\]: (\d+)", "calls, syscount.bt", 0.01),
    Row("opensnoop", "files", ["-p", "PID"], "/usr/sbin/opensnoop.bt", r"(?m)^PID .*/etc/(passwd)$", r"(?m)^PID .*/etc/(passwd)$",
        "opens, opensnoop.bt"),
    Row("execsnoop", "programs", [], "/usr/sbin/execsnoop.bt", r"(?m)^\d+ +\d+ +PID .* /bin/(true)$", r"(?m)^\d+ +\d+ +/bin/(true)$",
        "programs, execsnoop.bt"),
]
# Changes to the tools of bpftrace: all system calls, not the ten most frequent.
ADAPTED = {"print(@syscall, 10)": "print(@syscall)"}


def count(pattern, text):
    """The sum of what a pattern finds; a word counts 1. The first letter of a longer number never stands for it."""
    if pattern == "LIVE":
        return sum(map(int, re.findall(r"@: (\d+)", text))) - sum(map(int, re.findall(r"@freed: (\d+)", text)))
    return sum(int(one) if one.isdigit() and not pattern.endswith(r"(\d)\d* ") else 1 for one in re.findall(pattern, text))


def program_text(program):
    if not program.startswith("/"):
        return program
    text = open(program).read()
    for old, new in ADAPTED.items():
        text = text.replace(old, new)
    return text


def wait_for(condition, what, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            sys.exit(f"{what} did not happen in {seconds} s")
        time.sleep(0.05)


def probes_of(pid):
    """How many probes a process holds, by its descriptors."""
    held = 0
    for name in os.listdir(f"/proc/{pid}/fd"):
        try:
            held += bool(re.search("bpf_link|bpf-raw-tracepoint|perf_event|bpf-perf", os.readlink(f"/proc/{pid}/fd/{name}")))
        except OSError:
            pass
    return held


def has_all_probes(process):
    """dvm puts its probes on one after the other: their number stands still."""
    before = probes_of(process.pid)
    time.sleep(0.5)
    return process.poll() is not None or (before > 0 and probes_of(process.pid) == before)


def make_server(dvm, folder):
    """The path of the library with markers."""
    path = os.path.join(folder, "libserver.so")
    subprocess.run([dvm, "header", "-o", os.path.join(folder, "server.h"), "-s", "/dev/stdin"], input=PROVIDER, text=True, check=True)
    subprocess.run(["cc", "-shared", "-fPIC", "-I", folder, "-x", "c", "-", "-o", path], input=SERVER, text=True, check=True)
    return path


def workload(name, folder):
    begin = "import mmap, os, subprocess, sys, threading, time\nname = sys.argv[1]\n"
    if name == "queries":
        begin += f"import ctypes\nserver = ctypes.CDLL('{folder}/libserver.so')\n"
    begin += "print('ready', flush=True)\nsys.stdin.readline()\n"
    path = os.path.join(folder, "disk")
    process = subprocess.Popen(["/usr/bin/python3", "-c", begin + WORK[name] + "\nprint('done', flush=True)\nsys.stdin.readline()", path],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    process.stdout.readline()  # until its libraries are loaded
    return process


def end(process):
    """Interrupts a process, again if it has missed the signal, and returns what it printed."""
    for _ in range(20):
        process.send_signal(signal.SIGINT)
        try:
            return process.communicate(timeout=6)[0]
        except subprocess.TimeoutExpired:
            pass
    process.kill()
    sys.exit(f"{process.args[0]} does not end")


def command_of(program, bcc):
    if not program.startswith("bcc: "):
        return ["bpftrace", "-e", program_text(program) + " " + READY]
    name, *arguments = program.removeprefix("bcc: ").split()
    return [os.path.join(bcc, name), *arguments]


def run(row, dvm, bcc, folder):
    """Both counts."""
    server = make_server(dvm, folder) if row.work == "queries" else ""
    traced = workload(row.work, folder)
    python = os.path.realpath("/usr/bin/python3")
    with_pid = lambda text: re.sub(r"\bPID\b", str(traced.pid), text).replace("PYTHON", python).replace("SERVER", server)
    log = open(os.path.join(folder, "bpftrace"), "w+")
    theirs = subprocess.Popen(list(map(with_pid, command_of(row.program, bcc))), stdout=log, stderr=subprocess.STDOUT)
    ours = subprocess.Popen([dvm, "tool", row.tool, *map(with_pid, row.arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True)
    has_begun = lambda: has_all_probes(theirs) if row.program.startswith("bcc: ") else "ready" in open(log.name).read()
    wait_for(lambda: has_begun() or theirs.poll() is not None, f"the start of {theirs.args[0]}")
    wait_for(lambda: has_all_probes(ours), "dvm's start")
    traced.stdin.write("go\n")
    traced.stdin.flush()
    traced.stdout.readline()
    time.sleep(1)  # for the ring buffers, which bpftrace leaves unread at its end
    text = end(ours)
    end(theirs)
    traced.communicate("end\n")
    return count(with_pid(row.ours), text), count(with_pid(row.theirs), open(log.name).read())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dvm", default="dvm")
    parser.add_argument("--bcc", default="/usr/sbin")
    parser.add_argument("tools", nargs="*")
    given = parser.parse_args()
    if not os.path.exists(TRACEFS + "/events"):  # in a mount namespace of its own
        mount = f"mount -t tracefs none {TRACEFS} && mount -t debugfs none /sys/kernel/debug; exec \"$@\""
        os.execvp("unshare", ["unshare", "-m", "sh", "-c", mount, "sh", sys.executable, *sys.argv])
    wrong = 0
    print(f"{'tool':<12} {'dvm':>10} {'other':>10}  counted")
    for row in ROWS:
        if given.tools and row.tool not in given.tools:
            continue
        if not os.path.exists(command_of(row.program, given.bcc)[0]) and row.program.startswith("bcc: "):
            print(f"{row.tool:<12} {'':>10} {'':>10}  {row.unit}: not installed")
            continue
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            ours, theirs = run(row, given.dvm, given.bcc, folder)
        agrees = theirs > 0 and abs(ours - theirs) <= row.most_apart * max(ours, theirs)
        wrong += not agrees
        allowed = f" (may differ by {row.most_apart:.0%})" if row.most_apart else ""
        print(f"{row.tool:<12} {ours:>10} {theirs:>10}  {row.unit}{allowed}{'' if agrees else '  DIFFERENT'}", flush=True)
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
