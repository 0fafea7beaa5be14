// Cost of a firing when several threads run into one probe: CPU time of the traced threads per firing, with one thread and with
// four, alternating in one run. CPU time includes what the threads cost each other (the ring buffer's lock, the cache lines of
// its counters), but not the time that they wait for a processor.
// usage: firing_threads [ROUNDS [CALLS]], with CALLS of each thread

#include "bench/runtime/workload.h"
#include "lab/validate/bpftrace_peer.h"

extern "C" {
void bench_shared();
asm(".pushsection .text\n.globl bench_shared\n.type bench_shared, @function\nbench_shared:\n"
    "push %rbp\nmov %rsp, %rbp\npop %rbp\nret\n.size bench_shared, . - bench_shared\n.popsection");
}

namespace {

using namespace dvm::bench;

constexpr int kMostThreads = 4;

long thread_time() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * kNanoseconds + time.tv_nsec;
}

struct Order {
  int threads;
  long calls;
};

// CPU nanoseconds that so many threads took together.
long hammer(const Order& order) {
  std::atomic<long> sum = 0;
  std::vector<std::thread> all;
  for (int i = 0; i < order.threads; i++)
    all.emplace_back([&] {
      const long start = thread_time();
      for (long n = 0; n < order.calls; n++) bench_shared();
      sum += thread_time() - start;
    });
  for (std::thread& one : all) one.join();
  return sum;
}

// The traced process.
using Hammer = dvm::AnsweringChild<Order, long>;

// CPU nanoseconds a call.
double per_call(Hammer& hammered, int threads, long calls) {
  return static_cast<double>(must(hammered.ask({threads, calls}))) / static_cast<double>(threads * calls);
}

// Added CPU nanoseconds a firing.
struct Costs {
  std::vector<double> one, four, ratio;

  void add(Hammer& hammered, long calls, double plain) {
    one.push_back(per_call(hammered, 1, calls) - plain);
    four.push_back(per_call(hammered, kMostThreads, calls) - plain);
    ratio.push_back(four.back() / one.back());
  }
  void print(const char* who) const {
    const Spread a = spread(one), b = spread(four), c = spread(ratio);
    fmt::print("uprobe/firing/{:10} {:5.0f} [{:.0f}, {:.0f}] {:5.0f} [{:.0f}, {:.0f}] {:5.2f} [{:.2f}, {:.2f}]\n", who, a.median,
               a.low, a.high, b.median, b.low, b.high, c.median, c.low, c.high);
  }
};

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 9;
  const long calls = argc > 2 ? std::atol(argv[2]) : 100'000;
  if (rounds < 1 || calls < 1) fail("usage: firing_threads [ROUNDS [CALLS]]");
  Hammer hammered = must(Hammer::start(hammer));
  const UprobeSite site{fmt::format("/proc/{}/exe", hammered.pid()), function_of(own_file(), "bench_shared").offset, false,
                        hammered.pid()};
  const double plain = per_call(hammered, 1, calls);
  Costs ours, theirs;
  for (int round = 0; round < rounds; round++) {
    {
      OurTracer tracer(hammered.pid(), {site}, {});
      ours.add(hammered, calls, plain);
      const Count& count = tracer.finish();
      if (tracer.drops() != 0) fmt::print("{} events, {} drops\n", count.events, tracer.drops());
    }
    const auto tracer =
        must(dvm::lab::start_bpftrace(hammered.pid(), fmt::format("uprobe:{}:bench_shared {{ @ = count(); }}", own_file())));
    theirs.add(hammered, calls, plain);
  }
  fmt::print("added CPU ns a firing: one thread, four, ratio\n");
  ours.print("dvm");
  theirs.print("bpftrace");
}
