#!/usr/bin/env python3
"""Times dvm as a whole command beside bpftrace or gdb, alternating in one run; prints medians with their spread.

usage: commands.py DVM PROGRAMS_FOLDER [ROUNDS]

  begin_exit     start, compile BEGIN { exit(0); }, run it, end
  first_uprobe   start, attach to a function that a running process calls all the time, see the first call, end
  attach_bash    attach to and detach from every function of bash (dvm only)
  list_symbols   start, list one function by its name, and all by a glob, of a program with 100,000 functions (dvm only), end
  first_struct   start, find one structure in the debug information of a large program, say its size, end; of the programs below
                 those that are there, beside gdb's ptype
CPU is the median of the time that the command computed, what counts on a busy machine; the last column is the largest resident set.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import lifetime  # noqa: F401

DVM, PROGRAMS = sys.argv[1], sys.argv[2]
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 15
LOOPER = os.path.join(PROGRAMS, "looper")
LARGE = [(DVM, "dvm::runtime::ElfFunction"), ("/usr/bin/python3.11-dbg", "_typeobject")]  # with debug information, if any


def timed(command):
    """(milliseconds, largest resident set in KiB, milliseconds of CPU) of one run."""
    start = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{command}: {errors.decode()}")
    return 1000 * (time.monotonic() - start), usage.ru_maxrss, 1000 * (usage.ru_utime + usage.ru_stime)


def compare(name, commands):
    """Alternates the commands, so that a busy moment of the machine falls on all."""
    samples = {label: [] for label in commands}
    for _ in range(ROUNDS):
        for label, command in commands.items():
            samples[label].append(timed(command))
    for label, runs in samples.items():
        times = sorted(run[0] for run in runs)
        print(f"{name:<14}{label:<10} median {statistics.median(times):8.1f} ms   {times[0]:.1f} .. {times[-1]:.1f}   n {len(times)}"
              f"   CPU {statistics.median(run[2] for run in runs):.1f} ms   max RSS {max(run[1] for run in runs) / 1024:.1f} MiB")


def structures():
    """first_struct for each large program that has debug information."""
    gdb = shutil.which("gdb")
    for program, name in LARGE:
        find = [DVM, "compile", "-c", program, "-n", f"BEGIN {{ trace(sizeof (struct {name.split('::')[-1]})); }}"]
        if subprocess.run(find, capture_output=True, check=False).returncode != 0:
            print(f"first_struct  {program}: no debug information, left out")
            continue
        commands = {"dvm": find}
        if gdb:
            commands["gdb"] = [gdb, "-nx", "-batch", "-iex", "set debuginfod enabled off", "-ex", f"ptype /o struct {name}", program]
        print(f"first_struct  {name} of {program}, {os.path.getsize(program) / 2**20:.0f} MiB:")
        compare("first_struct", commands)


SYMBOLS = """
.altmacro
.macro one n
.globl function_\\n
.type function_\\n, @function
function_\\n: push %rbp
pop %rbp
ret
.size function_\\n, . - function_\\n
.endm
.set number, 0
.rept 100000
one %number
.set number, number + 1
.endr
.globl _start
_start: mov $34, %eax
syscall
jmp _start
"""


def symbols():
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "symbols")
        subprocess.run(["as", "-o", program + ".o", "-"], input=SYMBOLS, text=True, check=True)
        subprocess.run(["ld", "-o", program, program + ".o"], check=True)
        for name in ("function_77777", "*"):
            compare("list_symbols", {name[:9]: [DVM, "list", f"pid$target:a.out:{name}:entry", "-c", program]})


def main():
    bpftrace = shutil.which("bpftrace")
    begin = {"dvm": [DVM, "run", "-q", "-n", "BEGIN { exit(0); }"]}
    if bpftrace:
        begin["bpftrace"] = [bpftrace, "-e", "BEGIN { exit(); }"]
    compare("begin_exit", begin)

    target = subprocess.Popen([LOOPER, "1000000000000"], stdout=subprocess.DEVNULL)
    try:
        first = {"dvm": [DVM, "run", "-q", "-n", "pid$target:looper:func:entry { exit(0); }", "-p", str(target.pid)]}
        if bpftrace:
            first["bpftrace"] = [bpftrace, "-p", str(target.pid), "-e", f"uprobe:{LOOPER}:func {{ exit(); }}"]
        compare("first_uprobe", first)
    finally:
        target.kill()
        target.wait()

    shell = subprocess.Popen(["bash", "-c", "while :; do sleep 1; done"])
    try:
        compare("attach_bash", {"dvm": [DVM, "run", "-q", "-n", "BEGIN { exit(0); } pid$target:bash::entry { @ = count(); }", "-p", str(shell.pid)]})
    finally:
        shell.kill()
        shell.wait()

    structures()
    symbols()


if __name__ == "__main__":
    main()
