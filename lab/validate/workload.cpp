// The program that dvm cost validate traces. It does small jobs on order (job.h), each of them a loop. If a job has a burst, it
// sleeps after that many rounds until the period is over. The job "interrupted" waits for interrupts, "paced" makes calls at a
// rate, and "sizes" answers with the bytes of a nop marker, of a load-test-branch and of the semaphore.
//
// A job is done in pieces. Its CPU time is that of the rounds with an idle SMT sibling, at one speed of the core (quiet_time.h).
// The first argument is that speed in core cycles a tick (0: not scaled), two more are the readings of a quiet core, if known.
//
// Started by lab/validate/traced_job.cpp. Traced functions begin with a push, which the kernel emulates, with a frame pointer.

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "common/clock.h"
#include "common/sleep_until.h"
#include "lab/noise/interrupt_time.h"
#include "lab/noise/quiet_time.h"
#include "lab/validate/called_function.h"
#include "lab/validate/job.h"
#include "workload_probes.h"

#ifdef __clang__
#define TRACED extern "C" __attribute__((noinline))
#else
#define TRACED extern "C" __attribute__((noinline, noclone))
#endif
#define BARRIER() __asm__ volatile("" ::: "memory")
#define KEEP_FRAME() __asm__ volatile("" ::"r"(__builtin_frame_address(0)) : "memory")

TRACED void workload_function() { KEEP_FRAME(); }
TRACED void workload_paced(unsigned long) { KEEP_FRAME(); }

// Gregg's looper.
static size_t (*volatile length_of)(const char*) = std::strlen;
TRACED int workload_looper(const char* text) {
  BARRIER();
  return static_cast<int>(length_of(text)) + 1;
}

// The function of bench/agent.py.
__asm__(".pushsection .text\n" DVM_CALLED_FUNCTION("workload_called", "0") ".popsection");
extern "C" int workload_called(const char* text);

// A stack of some depth.
TRACED int workload_leaf() {
  KEEP_FRAME();
  return 1;
}
TRACED int workload_deeper(int depth) {
  const int below = depth == 0 ? workload_leaf() : workload_deeper(depth - 1);
  BARRIER();
  return below + 1;
}

// A load, a test and a branch as the compiler makes them, between two labels.
__asm__(
    ".pushsection .text\n.globl workload_branch\nworkload_branch: cmpw $0, dvm_workload_marker_semaphore(%rip)\njne 1f\n"
    ".globl workload_branch_end\nworkload_branch_end: ret\n1: ret\n.popsection");
extern "C" const char workload_branch[], workload_branch_end[];

namespace dvm::lab {
namespace {

constexpr int kNopBytes = 1;         // as in the header that dvm makes
constexpr double kPieceNs = 50'000;  // at least, at full speed

double cpu_time() { return static_cast<double>(read_clock(CLOCK_THREAD_CPUTIME_ID)); }

// Time that reading the clock adds to a piece: the shortest of several readings.
double time_of_clock() {
  double least = kPieceNs;
  for (int i = 0; i < 32; i++) {
    const double begin = cpu_time();
    least = std::min(least, cpu_time() - begin);
  }
  return least;
}

// The pieces that any thread has done.
class Pieces {
 public:
  // Does a piece, and returns its ns.
  template <class Work>
  double add(noise::QuietPiece& piece, long rounds, const Work& work) {
    const double begin = cpu_time();
    work();
    const double ns = std::max(cpu_time() - begin - of_clock_, 0.0);
    const noise::QuietSample taken = piece.end(ns);
    const std::lock_guard<std::mutex> guard(lock_);
    time_.add(taken, static_cast<double>(rounds)), as_it_was_ += ns;
    return ns;
  }
  const noise::QuietTime& time() const { return time_; }
  double slowdown(double each) const { return each > 0 ? as_it_was_ / time_.things() / each : 1; }

 private:
  const double of_clock_ = time_of_clock();
  std::mutex lock_;
  noise::QuietTime time_;
  double as_it_was_ = 0;  // ns, at the speed that the core had
};

using Rounds = void (*)(long rounds);

// At full speed, pieces become longer until they are long enough. In bursts, sleeping and waking up are no part of a piece.
void run_rounds(Rounds job, const Job& order, Pieces& pieces) {
  uint64_t next = read_clock(CLOCK_MONOTONIC);
  noise::QuietPiece piece;
  for (long size = order.burst > 0 ? order.burst : 1, left = order.rounds; left > 0;) {
    const long some = std::min(left, size);
    if (order.burst > 0) piece = noise::QuietPiece();
    const double ns = pieces.add(piece, some, [&] { job(some); });
    left -= some;
    if (order.burst > 0)
      sleep_until(next += static_cast<uint64_t>(order.period));
    else if (ns < kPieceNs)
      size *= 2;
  }
}

// A thread that calls workload_paced at a rate for so many ms; 0: as fast as it can. Between calls it sleeps for irregular times,
// so threads do not call in step. The calls of one go are a piece, and a small part of what fires between two polls of dvm. If
// the thread had no CPU, it makes the late calls between its next naps.
class PacedThread {
 public:
  explicit PacedThread(const Job& order) : order_(order), rate_(static_cast<double>(order.rounds)) {}

  void run(Pieces& pieces) {
    const uint64_t begin = read_clock(CLOCK_MONOTONIC), end = begin + static_cast<uint64_t>(order_.period) * 1'000'000;
    prctl(PR_SET_TIMERSLACK, 1ul);
    state_ += reinterpret_cast<uintptr_t>(this);  // threads differ
    for (uint64_t at = begin; at < end; at = read_clock(CLOCK_MONOTONIC)) {
      const long due = rate_ == 0 ? most() : static_cast<long>(static_cast<double>(at - begin) * rate_ / 1e9) - done_;
      if (const long some = std::min(due, most()); some > 0) call(some, pieces);
      if (rate_ == 0) continue;
      sleep_until(std::max(begin + static_cast<uint64_t>(static_cast<double>(done_ + 1) * 1e9 / rate_) + 1, at + nap()));
    }
  }
  long done() const { return done_; }

 private:
  static constexpr long kBatch = 512;

  // In one go.
  long most() const {
    return rate_ == 0 ? kBatch : std::min(kBatch, 1 + 4 * static_cast<long>(paced_mean_nap(rate_) * rate_ / 1e9));
  }
  uint64_t nap() {
    const auto mean = static_cast<uint64_t>(paced_mean_nap(rate_));
    return mean / 2 + random() % mean;
  }
  unsigned long random() {
    state_ ^= state_ << 13, state_ ^= state_ >> 7, state_ ^= state_ << 17;
    return state_;
  }
  // Each key as likely as another.
  void call(long count, Pieces& pieces) {
    const auto keys = static_cast<unsigned long>(std::max(order_.keys, 1u));
    noise::QuietPiece piece;
    pieces.add(piece, count, [&] {
      for (long i = 0; i < count; i++) workload_paced(random() % keys);
    });
    done_ += count;
  }

  const Job& order_;
  const double rate_;
  long done_ = 0;
  unsigned long state_ = 88172645463325252ul;
};

long run_paced(const Job& order, Pieces& pieces) {
  std::vector<PacedThread> paced(static_cast<size_t>(order.threads), PacedThread(order));
  {
    std::vector<std::jthread> threads;
    for (PacedThread& one : paced) threads.emplace_back([&] { one.run(pieces); });
  }
  long calls = 0;
  for (const PacedThread& one : paced) calls += one.done();
  return calls;
}

template <class Body>
inline void loop(long rounds, const Body& body) {
  for (long i = 0; i < rounds; i++) {
    body();
    BARRIER();
  }
}

int zeros = -1;  // an open file
volatile long total;

// The sum stays in a register.
void call_in_registers(long rounds) {
  long sum = 0;
  loop(rounds, [&] {
    sum += workload_called("hello DTrace");
    __asm__ volatile("" : "+r"(sum));
  });
  total = sum;
}

// LTTng's markers.
volatile int value;
void* volatile pointer;
char source[4096], target[4096];
void (*volatile on_nothing)();
void (*volatile on_two)(int, void*);
void (*volatile on_any)(const char*, ...);

void empty() { BARRIER(); }
void two_unused(int, void*) { BARRIER(); }
void any_unused(const char*, ...) { BARRIER(); }
void two_copied(int first, void* second) {
  value = first;
  pointer = second;
}
void any_copied(const char* format, ...) {
  va_list all;
  va_start(all, format);
  value = va_arg(all, int);
  pointer = va_arg(all, void*);
  va_end(all);
}
void any_decoded(const char* format, ...) {
  va_list all;
  va_start(all, format);
  for (const char* at = format; *at; at++) {
    if (*at != '%') continue;
    at++;
    if (*at == 'd') value = va_arg(all, int);
    if (*at == 'p') pointer = va_arg(all, void*);
  }
  va_end(all);
}

void copy() {
  std::memcpy(target, source, sizeof target);
  __asm__ volatile("" ::"r"(target) : "memory");
}
void mark() { WORKLOAD_MARKER(1, nullptr); }
void branch() {
  if (WORKLOAD_MARKER_ENABLED()) on_two(1, nullptr);
}
void call_two(long rounds, void (*with)(int, void*)) {
  on_two = with;
  loop(rounds, [] { on_two(1, nullptr); });
}
void call_any(long rounds, void (*with)(const char*, ...)) {
  on_any = with;
  loop(rounds, [] { on_any("%d %p", 1, nullptr); });
}
void call_nothing(long rounds) {
  on_nothing = empty;
  loop(rounds, [] { on_nothing(); });
}

constexpr struct {
  std::string_view name;
  Rounds run;
} kJobs[] = {
    {"read",
     [](long rounds) {
       char byte;
       for (long i = 0; i < rounds && read(zeros, &byte, 1) == 1; i++) {
       }
     }},
    {"function", [](long rounds) { loop(rounds, [] { workload_function(); }); }},
    {"looper", [](long rounds) { loop(rounds, [] { total = total + workload_looper("hello DTrace"); }); }},
    {"called", call_in_registers},
    {"stack", [](long rounds) { loop(rounds, [] { total = total + workload_deeper(8); }); }},
    {"empty", [](long rounds) { loop(rounds, [] {}); }},
    {"nop", [](long rounds) { loop(rounds, [] { mark(); }); }},
    {"branch", [](long rounds) { loop(rounds, [] { branch(); }); }},
    {"copy", [](long rounds) { loop(rounds, [] { copy(); }); }},
    {"copy_nop", [](long rounds) { loop(rounds, [] { copy(), mark(); }); }},
    {"copy_branch", [](long rounds) { loop(rounds, [] { copy(), branch(); }); }},
    {"on_empty", call_nothing},
    {"on_arguments", [](long rounds) { call_two(rounds, two_unused); }},
    {"on_copied", [](long rounds) { call_two(rounds, two_copied); }},
    {"on_varargs", [](long rounds) { call_any(rounds, any_unused); }},
    {"on_varargs_copied", [](long rounds) { call_any(rounds, any_copied); }},
    {"on_decoded", [](long rounds) { call_any(rounds, any_decoded); }},
};

JobTimes carry_out(const Job& order) {
  const std::string_view name = order.name.text;
  if (name == "sizes") return {kNopBytes, static_cast<double>(workload_branch_end - workload_branch), sizeof(short)};
  const uint64_t begin = read_clock(CLOCK_MONOTONIC);
  const auto wall = [&] { return static_cast<double>(read_clock(CLOCK_MONOTONIC) - begin); };
  Pieces pieces;
  auto calls = static_cast<double>(order.rounds);
  if (name == "interrupted") {
    const noise::InterruptTime taken = noise::interrupt_time(static_cast<uint64_t>(order.rounds));
    return {taken.ns, wall(), calls, taken.quiet_share};
  }
  if (name == "paced") calls = static_cast<double>(run_paced(order, pieces));
  for (const auto& job : kJobs)
    if (job.name == name) run_rounds(job.run, order, pieces);
  const double taken = wall();
  // Pieces of a paced job differ: those after a sleep take longer.
  const double each = name == "paced" ? pieces.time().each() : pieces.time().usual();
  return {each * calls, taken, calls, pieces.time().quiet_share(), pieces.slowdown(each)};
}

}  // namespace
}  // namespace dvm::lab

// Bytes of stack above the jobs, as larger programs have them. Without them the place of the stack decided whether a copy of 4 KB
// met its end. That is a fault in the kernel, which takes half a microsecond, and it hit every third process.
static constexpr size_t kStackAbove = 8192;

int main(int count, char** arguments) {
  using namespace dvm::lab;
  char above[kStackAbove];
  std::memset(above, 0, sizeof above);
  __asm__ volatile("" : : "r"(above) : "memory");  // so there are pages
  if (count > 1) noise::give_times_at(std::atof(arguments[1]));
  if (count > 3) noise::expect_readings({std::atof(arguments[2]), std::atof(arguments[3])});
  noise::quiet_core();
  zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  std::memset(source, 1, sizeof source);
  for (Job order; read(STDIN_FILENO, &order, sizeof order) == sizeof order;) {
    const JobTimes times = carry_out(order);
    if (write(STDOUT_FILENO, &times, sizeof times) != sizeof times) break;
  }
  return 0;
}
