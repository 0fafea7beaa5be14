"""SIGKILL of dvm, of its guard, or of both, at any moment of a run, in programs under load: they continue, with right results."""

import os
import pathlib
import random
import signal
import subprocess
import time
import unittest

import dvmtest
from dvmtest import ENV
from scenarios.test_agent import guards_of
from scenarios.test_torture import PATIENCE, long_or
from scenarios.test_torture_servers import SEED, Load, UnderLoad

KILLS = int(os.environ.get("DVM_KILLS", long_or("12", "1000")))
SCRIPTS = [
    "pid$target:a.out:{0}:entry {{ self->t = timestamp; }} pid$target:a.out:{0}:return /self->t/ {{ @[tid & 1] = quantize(timestamp - self->t); self->t = 0; }}",
    "pid$target:libc::entry {{ @[tid] = count(); }}",
    "pid$target:libc:mem*:entry, pid$target:libc:str*:entry {{ @[copyinstr(arg0), probefunc] = count(); }}",
    "pid$target:a.out:{0}:entry, pid$target:libc:malloc:return, pid$target:libc:free:entry {{ @[ustack(3)] = count(); n++; }}",
    "pid$target:libc::entry, pid$target:libc::return {{ n++; }}",
]


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


class Kills(UnderLoad):
    def start_dvm(self, pid, function, chance):
        text = chance.choice(SCRIPTS).format(function) + f" tick-{chance.randrange(1, 300)}ms {{ exit(0); }}"
        tracer = subprocess.Popen(self.trace(text, "-Z", "-p", str(pid)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENV, cwd=self.folder)
        self.addCleanup(tracer.kill)
        return tracer

    def duration(self, pid, function, chance):
        begin = time.monotonic()
        self.start_dvm(pid, function, chance).wait(PATIENCE)
        return time.monotonic() - begin

    def check_kills(self, load, pids, function):
        chance, step, longest, killed = random.Random(SEED), 0, 1, {"dvm": 0, "guard": 0, "both": 0}
        load.start()
        while sum(killed.values()) < KILLS:
            found = pids()
            if not found:
                time.sleep(0.01)
                continue
            if step % 20 == 0:
                longest = self.duration(found[0], function, chance)
            step += 1
            whom = chance.choice(list(killed))
            tracer = self.start_dvm(found[0], function, chance)
            time.sleep(chance.uniform(0, longest))
            guards = guards_of(found[0]) if whom != "dvm" else []
            victims = guards + [tracer.pid] * (whom != "guard" and tracer.poll() is None)
            for victim in victims if chance.random() < 0.5 else victims[::-1]:
                kill(victim)
            killed[whom] += bool(victims)
            tracer.wait(PATIENCE)
            self.assertEqual(load.wrong, [], f"seed {SEED}, step {step}, {whom}")
        print(f"seed {SEED}: {killed}", flush=True)

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
        command = [self.copied("hostile"), "threads", str(long_or(20000, 40000)), "100"]
        load = Load(self, command, f"^{self.plain(command).stdout}$")
        target = lambda: [load.process.pid] if load.process and load.process.poll() is None else []
        self.check_kills(load, target, "take")
        self.assertEqual(load.finish(), [])


if __name__ == "__main__":
    unittest.main()
