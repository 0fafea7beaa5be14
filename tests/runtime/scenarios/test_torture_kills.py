"""SIGKILL of dvm, of its guard, or of both, at any moment of a run, in programs under load: they continue, with right results."""

import os
import pathlib
import random
import re
import signal
import subprocess
import time
import unittest

import dvmtest
from dvmtest import ENV
from scenarios.test_agent import guards_of
from scenarios.test_torture import IS_LONG, PATIENCE, long_or
from scenarios.test_torture_servers import SEED, Load, UnderLoad

KILLS = int(os.environ.get("DVM_KILLS", long_or("5", "200")))  # in each program
SCRIPTS = [
    "pid$target:a.out:{0}:entry {{ self->t = timestamp; }} pid$target:a.out:{0}:return /self->t/ {{ @[tid & 1] = quantize(timestamp - self->t); self->t = 0; }}",
    "pid$target:libc::entry {{ @[tid] = count(); }}",
    "pid$target:libc:mem*:entry, pid$target:libc:str*:entry {{ @[copyinstr(arg0), probefunc] = count(); }}",
    "pid$target:a.out:{0}:entry, pid$target:libc:malloc:return, pid$target:libc:free:entry {{ @[ustack(3)] = count(); n++; }}",
    "pid$target:libc::entry, pid$target:libc::return {{ n++; }}",
]

# Objects, exceptions, threads, and a library that is opened and closed.
PYTHON = "import _ctypes, hashlib, json, threading\nsums = []\ndef work(n):\n    for i in range(%d):\n        hashlib.sha256(json.dumps({str(i): [n] * 9}).encode())\n" \
         "        try: int('x')\n        except ValueError: pass\n        _ctypes.dlclose(_ctypes.dlopen('libz.so.1', 2))\n    sums.append(n * 3)\n" \
         "all = [threading.Thread(target=work, args=(n,)) for n in range(8)]\nfor one in all: one.start()\nfor one in all: one.join()\nprint(sorted(sums))\n"
SHELL = 'for i in $(seq %d); do /bin/true; x=$(expr $i + 1); y="$y$((i %% 7))"; [ -d / ] | cat; done; echo $x $y | md5sum'


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Kills(UnderLoad):
    def start_dvm(self, pid, function, chance, options=()):
        text = chance.choice(SCRIPTS).format(function) + f" tick-{chance.randrange(1, 300)}ms {{ exit(0); }}"
        tracer = subprocess.Popen(self.trace(text, "-Z", *options, "-p", str(pid)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENV, cwd=self.folder)
        self.addCleanup(tracer.kill)
        return tracer

    def duration(self, *how):
        begin = time.monotonic()
        self.start_dvm(*how).wait(PATIENCE)
        return time.monotonic() - begin

    def kill_at_any_moment(self, pid, tracer, chance, longest):
        """Whom it has killed; nothing if they had ended before."""
        whom, is_early = chance.choice(["dvm", "guard", "both"]), chance.random() < 0.5
        if not is_early:
            dvmtest.eventually(lambda: guards_of(pid) or tracer.poll() is not None)
        time.sleep(chance.uniform(0, longest if is_early else 0.4))
        guards = guards_of(pid) if whom != "dvm" else []
        victims = guards + [tracer.pid] * (whom != "guard" and tracer.poll() is None)
        for victim in victims if chance.random() < 0.5 else victims[::-1]:
            kill(victim)
        tracer.wait(PATIENCE)
        return whom if victims else ""

    def check_kills(self, load, pids, function, options=(), restored=True):
        chance, step, longest, killed = random.Random(SEED), 0, 1, {"dvm": 0, "guard": 0, "both": 0}
        load.start()
        while sum(killed.values()) < KILLS:
            found = pids()
            if not found:
                time.sleep(0.01)
                continue
            if step % 20 == 0:
                longest = self.duration(found[0], function, chance, options)
            step += 1
            whom = self.kill_at_any_moment(found[0], self.start_dvm(found[0], function, chance, options), chance, longest)
            if whom:
                killed[whom] += 1
            if restored and step % 5 == 0:
                self.code_is_restored(found[0])
            self.assertEqual(load.wrong, [], f"seed {SEED}, step {step}, {whom}")
        print(f"seed {SEED}: {killed}", flush=True)

    def check_command(self, command, function, options=()):
        """A program that prints the same each time."""
        load = Load(self, command, f"^{re.escape(self.plain(command).stdout)}$")
        self.check_kills(load, lambda: [load.process.pid] if load.process and load.process.poll() is None else [], function, options, restored=False)
        self.assertEqual(load.finish(), [])

    def test_redis(self):
        self.needs("redis-server", "redis-benchmark")
        socket = os.path.join(self.folder, "socket")
        server = self.start(["redis-server", "--port", "0", "--unixsocket", socket, "--save", "", "--dir", self.folder])
        self.assertTrue(dvmtest.eventually(lambda: os.path.exists(socket)))
        load = Load(self, ["redis-benchmark", "-t", "set,get,lpush,zadd,mset", "-n", "2000", "-r", "1000", "-q", "-s", socket], r"(?s)SET: .*MSET")
        self.check_kills(load, lambda: [server.pid], "call")
        self.assertEqual((load.finish(), server.poll()), ([], None))
        self.code_is_restored(server.pid)
        self.assertEqual(self.plain(["redis-cli", "-s", socket, "eval", "local n = 0 for i = 1, 1000 do n = n + i end return n", "0"]).stdout, "500500\n")

    def test_threads_that_come_and_go(self):
        self.check_command([self.copied("hostile"), "threads", str(long_or(20000, 40000)), "100"], "take")

    def test_python(self):
        self.check_command(["/usr/bin/python3", "-c", PYTHON % long_or(10000, 20000)], "PyObject_Call*")

    def test_children(self):
        self.check_command(["/bin/bash", "-c", SHELL % long_or(200, 300)], "*execute*", ["-x", "followfork"])


class KillsAsRoot(Kills):
    """Only where the test runs as root, and takes its time."""

    def setUp(self):
        super().setUp()
        if not IS_LONG or not self.PREFIX:
            self.skipTest("long, and for root")
        self.PREFIX = []


if __name__ == "__main__":
    unittest.main()
