"""Other tracers that record a call of func() in the traced thread: what the program is compiled with, and how it is run.

Each is optional, and its absence is said. All run tests/programs/looper.c.
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import time

from measuring import compiled, cost

IN_PROCESS_AGENT = "/usr/lib/libinproctrace.so"
JUMP_BYTES = 5  # that a fast tracepoint replaces
LTTNG_HEADERS = ("/usr/include/lttng/tracepoint.h", "/usr/include/x86_64-linux-gnu/lttng/tracepoint.h")
# A tracepoint of LTTng is part of the program: here of the function that the compiler calls at each entry.
LTTNG_HEADER = """
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_looper.h"
#if !defined(LTTNG_LOOPER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define LTTNG_LOOPER_H
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_EVENT(bench, entry, LTTNG_UST_TP_ARGS(const void *, function),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer_hex(long, function, (long)function)))
#endif
#include <lttng/tracepoint-event.h>
"""
LTTNG_HOOKS = """
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_looper.h"
#define HOOK __attribute__((no_instrument_function))
HOOK void __cyg_profile_func_enter(void *function, void *caller) { lttng_ust_tracepoint(bench, entry, function); }
HOOK void __cyg_profile_func_exit(void *function, void *caller) {}
"""


class Uftrace:
    needs = "the package uftrace"
    calls = 2_000_000
    is_here = staticmethod(lambda: shutil.which("uftrace") is not None)

    def __init__(self, folder, source):
        self.data = os.path.join(folder, "uftrace.data")
        self.program = compiled(folder, "uftrace_looper", source, "-pg")

    def cost(self, calls):
        return cost(["uftrace", "record", "-d", self.data, "--no-libcall", "-F", "func", self.program, str(calls)])

    def end(self):
        pass


class GdbFastTracepoint:
    needs = "the packages gdb and gdbserver"
    calls = 200_000  # more do not fit into its buffer; each further one would stop the program
    is_here = staticmethod(lambda: all(map(shutil.which, ("gdb", "gdbserver", "objdump"))) and os.path.exists(IN_PROCESS_AGENT))

    def __init__(self, folder, source):
        # Its jump pads lie too far from programs at random addresses.
        self.program = compiled(folder, "gdb_looper", source, "-no-pie", "-fno-pie")
        self.address = self.long_instruction()

    def long_instruction(self):
        listing = subprocess.run(["objdump", "-d", "--disassemble=func", "--insn-width=16", self.program], capture_output=True, text=True, check=True).stdout
        for address, code in re.findall(r"^ *([0-9a-f]+):\t((?:[0-9a-f]{2} )+)", listing, re.M):
            if len(code.split()) >= JUMP_BYTES:
                return f"0x{address}"
        raise LookupError("func() has no instruction that is long enough")

    def cost(self, calls):
        server = f"gdbserver --wrapper env LD_PRELOAD={IN_PROCESS_AGENT} -- - {self.program} {calls}"
        steps = ["set pagination off", f"file {self.program}", f"target remote | {server}", "break main", "continue", f"ftrace *{self.address}", "tstart", "continue"]
        return cost(["gdb", "-q", "-nx", "-batch", *(word for step in steps for word in ("-ex", step))])

    def end(self):
        pass


class Lttng:
    """Its rings are overwritten and never read, which is the cheapest way."""

    needs = "the packages lttng-tools and liblttng-ust-dev"
    calls = 2_000_000
    is_here = staticmethod(lambda: shutil.which("lttng") is not None and any(map(os.path.exists, LTTNG_HEADERS)))

    def __init__(self, folder, source):
        with open(os.path.join(folder, "lttng_looper.h"), "w") as file:
            file.write(LTTNG_HEADER)
        hooks = compiled(folder, "lttng_hooks.o", LTTNG_HOOKS, "-O2", "-c", "-I.")
        self.program = compiled(folder, "lttng_looper", source, "-finstrument-functions", "-xnone", hooks, "-llttng-ust", "-ldl")
        self.daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.session = f"dvm-bench-{os.getpid()}"
        self.wait_for_daemon()
        self.command("create", "--snapshot", self.session, f"--output={folder}/lttng")
        self.command("enable-event", "-u", "bench:entry", "-s", self.session)
        self.command("start", self.session)

    def wait_for_daemon(self):
        deadline = time.monotonic() + 30
        while subprocess.run(["lttng", "--no-sessiond", "list"], capture_output=True, check=False).returncode != 0:
            if time.monotonic() > deadline:
                sys.exit("lttng-sessiond does not answer")
            time.sleep(0.1)

    @staticmethod
    def command(*words):
        subprocess.run(["lttng", "--no-sessiond", *words], check=True, stdout=subprocess.DEVNULL)

    def cost(self, calls):
        return cost([self.program, str(calls)])

    def end(self):
        self.command("destroy", self.session)
        self.daemon.terminate()
        self.daemon.wait()


PEERS = {"uftrace": Uftrace, "gdb fast tracepoint": GdbFastTracepoint, "LTTng-UST": Lttng}


@contextlib.contextmanager
def present(folder, source):
    """The peers that are installed, by name; says which are not."""
    peers = {}
    try:
        for name, peer in PEERS.items():
            if peer.is_here():
                peers[name] = peer(folder, source)
            else:
                print(f"{name:20} not installed: {peer.needs}")
        yield peers
    finally:
        for peer in peers.values():
            peer.end()
