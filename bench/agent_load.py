#!/usr/bin/env python3
"""How an agent disturbs a process with many probes, and what dvm needs for fast firings.

usage: agent_load.py DVM [ROUNDS]      (5 rounds; needs a C compiler and an idle machine)

Pauses: one thread calls functions and reads the clock, the others sleep; the longest time between two readings, in ms, untraced and
while dvm puts a probe on each of 2,000 functions and takes it off again; how long it takes from the start of dvm until they are on. Rates: two threads call one function at a given rate; what
dvm's CPU time is per second, in %, once it traces, what CPU time its start and end take beside, in ms, and how many firings were lost.
Locks: four threads of a C++ program contend for a mutex, which guards a counter (a hold of some 5 ns, the worst case) or a table of
1,000 numbers; their time untraced, and with the times that each lock is waited for and held, by dvm and by code in the program that
does no more than read the TSC three times and count. As root also with bpftrace. The program is on while it waits for its input.
Memory: the kB that each of many threads adds to the memory of the program and dvm together; their firings leave records and keys.
Threads: the CPU time in ns that `@ = count()` adds to a call by one thread, and by four that call the same function (programs/threads.c).
"""

import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import lifetime  # noqa: F401
from measuring import BY_AGENT, compiled, lost_in, must_be_agent, path_of, spread

FUNCTIONS, MEASURED = 2000, 3  # s
HERE = os.path.dirname(os.path.realpath(__file__))
FAST_THREADS = ("-O1", "-pthread")
PAUSES = r"""
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
volatile long sink;
%s
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1e3 + t.tv_nsec / 1e6; }
static void *rest(void *x) { for (;;) usleep(50000); return x; }
int main(int argc, char **argv) {
  pthread_t thread;
  for (int i = 1; i < atoi(argv[1]); i++) pthread_create(&thread, 0, rest, 0);
  double begin = now(), last = begin, most = 0;
  while (last - begin < atof(argv[2]) * 1e3) {
    %s
    double next = now();
    if (next - last > most) most = next - last;
    last = next;
  }
  printf("%%.2f\n", most);
}
"""
RATES = r"""
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
volatile long sink;
static long calls;
static double rate;
__attribute__((noinline)) long hit(long a) { sink = a; return a + 1; }
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static void *call(void *x) {
  double begin = now();
  for (long i = 0; i < calls; i++) {
    hit(i);
    if (i % 1024 == 0)
      while ((now() - begin) * rate < i);
  }
  return x;
}
int main(int argc, char **argv) {
  pthread_t one, two;
  calls = atol(argv[2]) / 2, rate = atof(argv[1]) / 2;
  pthread_create(&one, 0, call, 0), pthread_create(&two, 0, call, 0);
  pthread_join(one, 0), pthread_join(two, 0);
}
"""

LOCKS = r"""
#include <x86intrin.h>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <vector>
static thread_local uint64_t waits[65], holds[65];
struct Plain {
  static uint64_t time() { return 0; }
  static void note(uint64_t *, uint64_t) {}
};
struct ByHand {
  static uint64_t time() { return __rdtsc(); }
  static void note(uint64_t *times, uint64_t time) { times[std::countl_zero(time)]++; }
};
struct Counter {
  std::mutex mutex;
  long number = 0;
  uint64_t key(uint64_t seed) { return seed; }
  void add(uint64_t) { number++; }
};
struct Table {  // of a thousand numbers; the key takes as long as reading a short line of text
  std::mutex mutex;
  std::map<uint64_t, long> numbers;
  uint64_t key(uint64_t seed) {
    for (int i = 0; i < 40; i++) seed = (seed ^ (seed >> 29)) * 0xbf58476d1ce4e5b9;
    return seed % 1000;
  }
  void add(uint64_t key) { numbers[key]++; }
};
template <class Way, class Shared> void change(Shared &shared, uint64_t seed) {
  const uint64_t key = shared.key(seed);
  const uint64_t before = Way::time();
  shared.mutex.lock();
  const uint64_t locked = Way::time();
  Way::note(waits, locked - before);
  shared.add(key);
  Way::note(holds, Way::time() - locked);
  shared.mutex.unlock();
}
template <class Shared> void run(long count, bool is_by_hand) {
  Shared shared;
  std::vector<std::thread> threads;
  std::puts("ready");
  std::fflush(stdout);
  std::getchar();
  const auto begin = std::chrono::steady_clock::now();
  for (long i = 1; i <= 4; i++)
    threads.emplace_back([&, i] {
      for (long n = 0; n < count; n++) is_by_hand ? change<ByHand>(shared, i * n) : change<Plain>(shared, i * n);
    });
  for (std::thread &thread : threads) thread.join();
  std::printf("%.3f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
}
int main(int argc, char **argv) {
  const bool is_by_hand = argc > 3;
  std::strcmp(argv[1], "table") == 0 ? run<Table>(std::atol(argv[2]), is_by_hand) : run<Counter>(std::atol(argv[2]), is_by_hand);
}
"""
LOCK_SCRIPT = """
BEGIN { printf("on\\n"); }
pid$target:libc:pthread_mutex_lock:entry { self->t = timestamp; }
pid$target:libc:pthread_mutex_lock:return /self->t/ { @wait = quantize(timestamp - self->t); self->h = timestamp; self->t = 0; }
pid$target:libc:pthread_mutex_unlock:entry /self->h/ { @hold = quantize(timestamp - self->h); self->h = 0; }
"""
LOCK_PEER = """
BEGIN {{ printf("on\\n"); }}
uprobe:{0}:pthread_mutex_lock {{ @t[tid] = nsecs; }}
uretprobe:{0}:pthread_mutex_lock /@t[tid]/ {{ @wait = hist(nsecs - @t[tid]); @h[tid] = nsecs; delete(@t[tid]); }}
uprobe:{0}:pthread_mutex_unlock /@h[tid]/ {{ @hold = hist(nsecs - @h[tid]); delete(@h[tid]); }}
"""
LOCK_COUNT = 2_000_000  # of each thread
SLOWER = 100            # times as few with bpftrace
MEMORY = r"""
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
volatile long sink;
__attribute__((noinline)) long hit(long a) { sink = a; return a + 1; }
static void *call(void *x) {
  for (long i = 0;; i++)
    hit(i), usleep(1000);
  return x;
}
int main(int argc, char **argv) {
  pthread_t thread;
  for (int i = 1; i < atoi(argv[1]); i++) pthread_create(&thread, 0, call, 0);
  call(0);
}
"""
MEMORY_SCRIPT = """
BEGIN { printf("on\\n"); }
pid$target:a.out:hit:entry { @[arg0 & 1023] = count(); last[0] = arg0; }
pid$target:a.out:hit:entry { self->t = timestamp; }
pid$target:a.out:hit:return /self->t/ { @t = quantize(timestamp - self->t); self->t = 0; }
"""
FEW, MANY = 8, 64  # threads


def pause_program(folder):
    functions = "\n".join(f"__attribute__((noinline)) long p_{i}(long a) {{ sink += a * {i + 3}; return sink ^ {i}; }}" for i in range(FUNCTIONS))
    calls = " ".join(f"p_{i}({i});" for i in range(0, FUNCTIONS, 100))
    return compiled(folder, "pauses", PAUSES % (functions, calls), *FAST_THREADS)


def pause(dvm, program, threads):
    """Without dvm: of the program alone."""
    with subprocess.Popen([program, str(threads), "2"], stdout=subprocess.PIPE, text=True) as process:
        time.sleep(0.4)
        if dvm:
            script = "pid$target:a.out:p_*:entry { @ = count(); } tick-500ms { exit(0); }"
            subprocess.run([dvm, "run", "-q", "-x", "backend=agent", "-n", script, "-p", str(process.pid)], check=True, capture_output=True)
        return float(process.communicate()[0])


def enabling(dvm, program, backend="agent"):
    """ms from the start of dvm until all probes are on."""
    script = 'pid$target:a.out:p_*:entry { @ = count(); } BEGIN { printf("on\\n"); }'
    with subprocess.Popen([program, "8", "30"], stdout=subprocess.DEVNULL) as process:
        time.sleep(0.2)
        begin = time.monotonic()
        command = [dvm, "run", "-q", "-x", f"backend={backend}", "-x", "switchrate=5ms", "-n", script, "-p", str(process.pid)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as tracer:
            if tracer.stdout.readline() != "on\n":
                sys.exit("dvm does not trace the program")
            taken = 1e3 * (time.monotonic() - begin)
            process.kill()
            tracer.communicate()
    return taken


def cpu_time(pid):
    """Of all threads of a process that lives, in s."""
    texts = [open(f"/proc/{pid}/task/{thread}/schedstat").read() for thread in os.listdir(f"/proc/{pid}/task")]
    return sum(int(text.split()[0]) for text in texts) / 1e9


def firing(dvm, program, clause, rate):
    """The CPU time of dvm while it traces, in % of one CPU; that of its start and end, in ms; the lost firings."""
    script = f"BEGIN {{ printf(\"on\\n\"); }} pid$target:a.out:hit:entry {clause}"
    with subprocess.Popen([program, str(rate), str(2 * MEASURED * rate)]) as process:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with subprocess.Popen([dvm, "run", "-q", "-x", "backend=agent", "-n", script, "-p", str(process.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as tracer:
            if tracer.stdout.readline() != "on\n":
                sys.exit("dvm does not trace the program")
            time.sleep(0.2)
            early, begin = cpu_time(tracer.pid), time.monotonic()
            time.sleep(MEASURED)
            share = (cpu_time(tracer.pid) - early) / (time.monotonic() - begin)
            process.kill()
            errors = tracer.communicate()[1]
        used, length = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - begin
    whole = used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime
    return 100 * share, 1e3 * (whole - share * length), lost_in(errors)


def by_dvm(dvm, pid, script):
    return [dvm, "run", "-q", "-x", "backend=agent", "-n", script, "-p", str(pid)]


def locking(command_of, program, shared, count=LOCK_COUNT, *way):
    """Seconds of LOCK_COUNT locks of each thread. command_of: makes the tracer's command of the process, or is None."""
    with subprocess.Popen([program, shared, str(count), *way], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()  # it is ready
        command = command_of(process.pid) if command_of else ["echo", "on"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as tracer:
            if "on\n" not in iter(tracer.stdout.readline, ""):
                sys.exit(f"{command[0]} does not trace the program")
            seconds = float(process.communicate("\n")[0])
            tracer.communicate()
    return seconds * LOCK_COUNT / count


def lock_ways(dvm, program, shared):
    """By their names: functions that return the seconds."""
    ways = {"untraced": lambda: locking(None, program, shared),
            "by hand": lambda: locking(None, program, shared, LOCK_COUNT, "by hand"),
            "agent": lambda: locking(lambda pid: by_dvm(dvm, pid, LOCK_SCRIPT), program, shared)}
    if os.geteuid() == 0 and shutil.which("bpftrace"):
        peer = lambda pid: ["bpftrace", "-p", str(pid), "-e", LOCK_PEER.format(path_of(pid, "libc.so"))]
        ways["bpftrace"] = lambda: locking(peer, program, shared, LOCK_COUNT // SLOWER)
    return ways


def lock_times(dvm, program, shared, rounds):
    """By the ways: the seconds of each round."""
    ways = lock_ways(dvm, program, shared)
    rows = [[run() for run in ways.values()] for _ in range(rounds)]
    return dict(zip(ways, map(list, zip(*rows))))


def compare_locks(dvm, program, shared, rounds):
    times = lock_times(dvm, program, shared, rounds)
    for name, values in times.items():
        ratios = [value / plain for value, plain in zip(values, times["untraced"])]
        print(f"4 threads that lock a {shared}, {name}: {spread(values, 2)} s, {spread(ratios, 2)} times the untraced time", flush=True)


def own_memory(*pids):
    """kB of the processes together: what they share is counted once."""
    texts = [open(f"/proc/{pid}/smaps_rollup").read() for pid in pids]
    return sum(int(re.search(r"^Pss: +(\d+)", text, re.M)[1]) for text in texts)


def memory(dvm, program, threads):
    """kB that tracing adds to the program, with dvm's own."""
    with subprocess.Popen([program, str(threads)]) as process:
        time.sleep(0.3)
        untraced = own_memory(process.pid)
        with subprocess.Popen(by_dvm(dvm, process.pid, MEMORY_SCRIPT), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as tracer:
            if tracer.stdout.readline() != "on\n":
                sys.exit("dvm does not trace the program")
            time.sleep(2)
            traced = own_memory(process.pid, tracer.pid)
            process.kill()
            tracer.communicate()
    return traced - untraced


def memory_of_thread(dvm, program):
    return (memory(dvm, program, MANY) - memory(dvm, program, FEW)) / (MANY - FEW)


def thread_program(folder):
    with open(os.path.join(HERE, "programs/threads.c")) as file:
        return compiled(folder, "threads", file.read(), *FAST_THREADS, f"-I{os.path.dirname(HERE)}")


def added_by_threads(dvm, program):
    """ns of CPU time that counting adds to a call by one thread, and to one by each of four."""
    command = [dvm, "run", *BY_AGENT, "-n", "pid$target:a.out:hit:entry { @ = count(); }", "-c", program]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    must_be_agent(result.stderr)
    return [float(ns) for ns in re.search(r"added (\S+) (\S+)", result.stdout).groups()]


def compare_threads(dvm, program, rounds):
    added = [added_by_threads(dvm, program) for _ in range(rounds)]
    for threads, costs in zip((1, 4), zip(*added)):
        print(f"{threads} threads that call one function: {spread(costs, 2)} ns a call", flush=True)
    print(f"four threads: {spread([four / one for one, four in added], 2)} times the cost of one", flush=True)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    dvm, rounds = os.path.realpath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 5
    with tempfile.TemporaryDirectory(prefix="dvm-bench-") as folder:
        program = pause_program(folder)
        for threads in (8, 200):
            for name, tracer in (("untraced", None), (f"{FUNCTIONS} probes", dvm)):
                print(f"{threads} threads, {name}: longest gap {spread([pause(tracer, program, threads) for _ in range(rounds)], 2)} ms", flush=True)
        print(f"{FUNCTIONS} probes on after {spread([enabling(dvm, program) for _ in range(rounds)], 0)} ms", flush=True)
        program = compiled(folder, "memory", MEMORY, *FAST_THREADS)
        print(f"memory of a thread: {spread([memory_of_thread(dvm, program) for _ in range(rounds)], 0)} kB", flush=True)
        program = compiled(folder, "locks", LOCKS, *FAST_THREADS, "-std=c++20", language="c++")
        for shared in ("counter", "table"):
            compare_locks(dvm, program, shared, rounds)
        compare_threads(dvm, thread_program(folder), rounds)
        program = compiled(folder, "rates", RATES, *FAST_THREADS)
        for clause, rate in (("{ last[0] = arg0; }", 3_000_000), ("{ @ = count(); }", 10_000_000)):
            results = [firing(dvm, program, clause, rate) for _ in range(rounds)]
            print(f"{clause} at {rate / 1e6:g} million a second: dvm {spread([cpu for cpu, _, _ in results], 2)} % of a CPU, "
                  f"start and end {spread([rest for _, rest, _ in results], 0)} ms, {sum(lost for _, _, lost in results)} lost", flush=True)


if __name__ == "__main__":
    main()
