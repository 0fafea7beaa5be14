#!/usr/bin/env python3
"""Shows whether exporting delays tracing: the time of a call to the traced thread, and what is dropped, alone and with exporters whose
other end works, is slow, hangs or is gone. Records of trace events hold what records of OTLP hold, and nobody sends them. "the same values, no exporter" captures
as much by variables of the clause. All cases alternate in one run. Prints medians: of the time of a call with its spread, of the CPU time of a call in the
traced thread, which other programs disturb less, of drops, and of the CPU time of dvm and the program together.

usage: exporting.py DVM PROGRAMS_FOLDER [ROUNDS [CALLS [series|records|names|keys]]]

  series    a clause with about 1,000 keys, a distribution for each, which are some 10,000 series
  records   a clause that prints a line at every fourth call
  names     a clause whose 20,000 keys are addresses that have to be named. A page (--html) measures the account, too: "the account, no exporter" is
            what it compares with. The CPU time of all includes what is done when the output has been printed; "until the output" does not.
  keys      a clause that has a new key at each call, of which exporters take 10,000
"""

import contextlib
import http.server
import math
import os
import re
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import lifetime  # noqa: F401

DVM, PROGRAMS = sys.argv[1], sys.argv[2]
ROUNDS = int(sys.argv[3]) if len(sys.argv) > 3 else 9
CALLS = int(sys.argv[4]) if len(sys.argv) > 4 else 2000000
PROBE = "pid$target:looper:func:entry"
SCRIPTS = {
    "series": "BEGIN { n = 0; } " + PROBE + " { @calls[n % 1000] = count(); @sizes[n % 1000] = quantize(n % 128); n++; }",
    "names": "BEGIN { n = 0; } " + PROBE + " { @[uaddr(uregs[R_RIP] + n++ % 20000)] = count(); }",
    "keys": "#pragma D option aggsize=64m\nBEGIN { n = 0; } " + PROBE + " { @[n++] = count(); }",
    "records": "BEGIN { n = 0; } " + PROBE + " /n++ % 4 == 0/ { printf(\"%d %s\\n\", n, probefunc); }",
}
CPU_TIME = " pid$target:looper:main:return { @thread = max(vtimestamp); } END { printa(\"thread %@d\\n\", @thread); }"
# What a record for an exporter says besides its text (runtime/consumer/record_copies.cpp).
ORIGIN = "this->t = timestamp; this->w = walltimestamp; this->p = pid; this->i = tid; this->c = execname; "
ADDRESS = ("127.0.0.1", 19464)
REQUEST = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"


def connect():
    while True:
        with contextlib.suppress(OSError):
            return socket.create_connection(ADDRESS)
        time.sleep(0.01)


@contextlib.contextmanager
def beside(work):
    """Runs work(stop) in a thread while dvm runs."""
    stop = threading.Event()
    thread = threading.Thread(target=work, args=[stop], daemon=True)
    thread.start()
    yield ["--prometheus", "%s:%d" % ADDRESS]
    stop.set()


def scrape(stop):
    """A scraper that works, ten times a second."""
    while not stop.wait(0.1):
        with contextlib.suppress(OSError), socket.create_connection(ADDRESS) as connection:
            connection.settimeout(1)
            connection.sendall(REQUEST.replace(b"Host", b"Connection: close\r\nHost"))
            while connection.recv(1 << 20):
                pass


def hang(stop):
    """Scrapers that ask and never read."""
    held = []
    for _ in range(30):
        held.append(connect())
        held[-1].sendall(REQUEST)
    stop.wait()


@contextlib.contextmanager
def silent_collector():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield ["--otlp", f"http://127.0.0.1:{server.getsockname()[1]}"]


class Slow(http.server.BaseHTTPRequestHandler):
    """Takes 300 ms for an answer."""

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        time.sleep(0.3)
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format, *args):
        pass


@contextlib.contextmanager
def slow_collector():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Slow) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield ["--otlp", f"http://127.0.0.1:{server.server_port}"]
        server.shutdown()


@contextlib.contextmanager
def no_collector():
    yield ["--otlp", "http://127.0.0.1:9"]


@contextlib.contextmanager
def page():
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield ["--html", folder + "/page.html"]


SAME = "the same values, no exporter"
ACCOUNT = "the account, no exporter"
CASES = {
    "no exporter": lambda: contextlib.nullcontext([]),
    SAME: lambda: contextlib.nullcontext([]),
    ACCOUNT: lambda: contextlib.nullcontext(["--account"]),
    "page": page,
    "prometheus, scraped": lambda: beside(scrape),
    "prometheus, 30 scrapers hang": lambda: beside(hang),
    "trace events to /dev/null": lambda: contextlib.nullcontext(["--trace-events", "/dev/null"]),
    "otlp, collector hangs": silent_collector,
    "otlp, slow collector": slow_collector,
    "otlp, no collector": no_collector,
}


def cpu_until_printed(tracer, path):
    """CPU seconds of dvm's first thread, which traces and prints, when the output was there."""
    seconds = math.nan
    while tracer.poll() is None:
        printed = os.path.getsize(path) > 0
        with contextlib.suppress(OSError, IndexError), open(f"/proc/{tracer.pid}/task/{tracer.pid}/schedstat", encoding="ascii") as file:
            seconds = int(file.read().split()[0]) / 1e9
        if printed:
            break
        time.sleep(0.002)
    return seconds


def measure(script, case):
    """(nanoseconds of a call, drops, CPU seconds of dvm and the program, CPU nanoseconds of a call in the traced thread, CPU seconds of the tracing thread
    until the output)"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with case() as options, tempfile.NamedTemporaryFile("r", errors="replace", dir="/dev/shm") as output:
        command = [DVM, "run", "-q", "-o", output.name, "-x", "bufsize=16m", "-x", "aggrate=100ms", *options, "-n", script + CPU_TIME,
                   "-c", f"{PROGRAMS}/looper {CALLS}"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace") as tracer:
            printed = cpu_until_printed(tracer, output.name)
            out, err = tracer.communicate()
        result = subprocess.CompletedProcess(command, tracer.returncode, out, err)
        thread = re.search(r"(?m)^thread (\d+)$", output.read())
    if result.returncode != 0:
        sys.exit(result.stderr)
    nanoseconds = float(re.search(r"([\d.]+) ns/call", result.stdout)[1])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return nanoseconds, sum(int(count) for count in re.findall(r"^dvm: (\d+) drops?", result.stderr, re.M)), seconds, int(thread[1]) / CALLS if thread else None, printed


def main():
    for name, script in SCRIPTS.items():
        if len(sys.argv) > 5 and sys.argv[5] != name:
            continue
        only = {SAME: ["records"], ACCOUNT: ["names", "keys"], "page": ["names", "keys"]}
        samples = {case: [] for case in CASES if name in only.get(case, SCRIPTS)}
        for _ in range(ROUNDS):
            for case in samples:
                enter = CASES[case]
                samples[case].append(measure(script.replace("{ printf", "{ " + ORIGIN + "printf") if case == SAME else script, enter))
        for case, runs in samples.items():
            times = sorted(run[0] for run in runs)
            # The firing that tells the thread's time may have been dropped.
            median = lambda i: statistics.median([run[i] for run in runs if run[i] is not None] or [math.nan])
            print(f"{name:<9}{case:<30} median {median(0):7.1f} ns a call   {times[0]:.1f} .. {times[-1]:.1f}   n {len(times)}   of CPU {median(3):6.1f} ns"
                  f"   drops {median(1):.0f} of {CALLS}   CPU of all {median(2):.2f} s, of dvm until the output {median(4):.2f} s", flush=True)


if __name__ == "__main__":
    os.environ["no_proxy"] = "*"
    main()
