// What one firing costs the traced thread: kernel uprobes with our capture programs beside bpftrace, alternating in one run.
//
//   uprobe/firing/count    @ = count()                  (the record holds the probe id)
//   uprobe/firing/string   @[copyinstr(arg0)] = count() (and the string)
//   syscall/firing/count   @ = count() of one system call in that process
//
// A child calls a function whose first instruction is a push, or makes a system call, in a tight loop: once untraced, then traced
// by each. Added cost is the difference. Prints medians with quartiles over the rounds, and the ratio. usage: firing_cost [ROUNDS
// [CALLS]]

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "runtime/instrument/uprobe/uprobe.h"
#include "runtime/symbol/elf.h"

extern "C" {
void bench_hot(const char* text);
asm(".pushsection .text\n.globl bench_hot\n.type bench_hot, @function\nbench_hot:\n"
    "push %rbp\nmov %rsp, %rbp\npop %rbp\nret\n.size bench_hot, . - bench_hot\n.popsection");
}

namespace {

using namespace dvm::runtime;

constexpr long kNanoseconds = 1'000'000'000;

long now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kNanoseconds + time.tv_nsec;
}

void run_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

[[noreturn]] void fail(const std::string& what) {
  fmt::print(stderr, "firing_cost: {}\n", what);
  std::exit(1);
}

enum class What : long { function, system_call };

struct Order {
  long calls;
  What what;
};

// The traced process: runs so many calls when told, and says how long they took.
class Workload {
 public:
  Workload() {
    int down[2], up[2];
    if (pipe(down) != 0 || pipe(up) != 0) fail("no pipe");
    pid_ = fork();
    if (pid_ == 0) serve(down[0], up[1]);
    to_ = down[1];
    from_ = up[0];
  }
  ~Workload() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }

  // Nanoseconds for the calls.
  long run(long calls, What what) {
    long took = 0;
    const Order order{calls, what};
    if (write(to_, &order, sizeof order) != sizeof order || read(from_, &took, sizeof took) != sizeof took)
      fail("the child died");
    return took;
  }

 private:
  [[noreturn]] static void serve(int from, int to) {
    run_on(0);
    for (Order order; read(from, &order, sizeof order) == sizeof order;) {
      const long start = now();
      if (order.what == What::function) {
        for (long i = 0; i < order.calls; i++) bench_hot("a string of usual size");
      } else {
        for (long i = 0; i < order.calls; i++) syscall(SYS_getppid);
      }
      const long took = now() - start;
      if (write(to, &took, sizeof took) != sizeof took) break;
    }
    _exit(0);
  }

  pid_t pid_ = -1;
  int to_ = -1, from_ = -1;
};

using Site = decltype(Probe::site);

class Count final : public EventSink {
 public:
  void fire(dvm::vm::Firing& firing) noexcept override {
    events++;
    strings += !firing.memory.empty();
  }
  uint64_t events = 0, strings = 0;
};

// Our instrument on the workload, polled every millisecond by a thread, as dvm does.
class OurTracer {
 public:
  OurTracer(pid_t pid, const Site& site, const CaptureNeeds& needs) : instrument_(make_uprobe_instrument()) {
    probe_.id = 4;
    probe_.site = site;
    std::vector<Refused> refused;
    const dvm::Status status = instrument_->enable(std::array{EnabledProbe{&probe_, needs, {{pid}, {}}}}, refused);
    if (!status) fail(status.error().message);
    poller_ = std::thread([this] { poll(); });
  }
  ~OurTracer() { finish(); }

  const Count& finish() {
    if (poller_.joinable()) {
      stop_ = true;
      poller_.join();
      instrument_->disable();
      if (!instrument_->poll(count_)) fail("poll failed");
    }
    return count_;
  }
  uint64_t drops() const { return instrument_->drops(); }

 private:
  void poll() {
    run_on(1);
    while (!stop_) {
      if (!instrument_->poll(count_)) fail("poll failed");
      usleep(1000);
    }
  }

  std::unique_ptr<Instrument> instrument_;
  Probe probe_;
  Count count_;
  std::atomic<bool> stop_ = false;
  std::thread poller_;
};

// bpftrace on the workload, until the end of the object.
class Bpftrace {
 public:
  Bpftrace(pid_t pid, const std::string& program) {
    int out[2];
    if (pipe2(out, O_CLOEXEC) != 0) fail("no pipe");
    const std::string target = std::to_string(pid);
    pid_ = fork();
    if (pid_ == 0) {
      dup2(out[1], 1);
      dup2(open("/dev/null", O_WRONLY), 2);  // it complains about limits and files that do not matter here
      show_tracepoints();
      execlp("bpftrace", "bpftrace", "-p", target.c_str(), "-e", program.c_str(), nullptr);
      _exit(127);
    }
    close(out[1]);
    from_ = out[0];
    wait_until_attached();
  }
  ~Bpftrace() {
    kill(pid_, SIGINT);
    waitpid(pid_, nullptr, 0);
    close(from_);
  }

 private:
  // Where nothing is mounted, for it alone.
  static void show_tracepoints() {
    if (access("/sys/kernel/tracing/events", F_OK) == 0 || unshare(CLONE_NEWNS) != 0) return;
    mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    mount("tracefs", "/sys/kernel/tracing", "tracefs", 0, nullptr);
  }

  void wait_until_attached() {
    char text[256];
    const ssize_t got = read(from_, text, sizeof text);
    if (got <= 0) fail("bpftrace did not start");
    usleep(500'000);  // it says that it is attaching, not that it has
  }

  pid_t pid_ = -1;
  int from_ = -1;
};

struct Spread {
  double low, median, high;
};

Spread spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return {values[n / 4], values[n / 2], values[3 * n / 4]};
}

struct Case {
  std::string name;
  What what = What::function;
  Site site;
  std::string program;  // bpftrace's
  CaptureNeeds needs;
  std::vector<double> ours, theirs, ratios;
  uint64_t events = 0, expected = 0, strings = 0, drops = 0;
};

// Nanoseconds a call: the median of several runs, so that a moment without the CPU does not count.
constexpr int kRuns = 5;
double per_call(Workload& workload, long calls, What what) {
  std::vector<double> times;
  for (int i = 0; i < kRuns; i++) times.push_back(static_cast<double>(workload.run(calls, what)) / static_cast<double>(calls));
  return spread(std::move(times)).median;
}

void run_round(Workload& workload, long calls, Case& one) {
  const double plain = per_call(workload, calls, one.what);
  {
    OurTracer tracer(workload.pid(), one.site, one.needs);
    one.ours.push_back(per_call(workload, calls, one.what) - plain);
    const Count& count = tracer.finish();
    one.events += count.events;
    one.strings += count.strings;
    one.drops += tracer.drops();
    one.expected += static_cast<uint64_t>(kRuns * calls);
  }
  Bpftrace tracer(workload.pid(), one.program);
  one.theirs.push_back(per_call(workload, calls, one.what) - plain);
  one.ratios.push_back(one.ours.back() / one.theirs.back());
}

void print(const Case& one) {
  const Spread ours = spread(one.ours), theirs = spread(one.theirs), ratio = spread(one.ratios);
  fmt::print("{:22} {:6.0f} [{:.0f}, {:.0f}]  {:6.0f} [{:.0f}, {:.0f}]  {:5.2f} [{:.2f}, {:.2f}]  {} of {} events, {} drops\n",
             one.name, ours.median, ours.low, ours.high, theirs.median, theirs.low, theirs.high, ratio.median, ratio.low,
             ratio.high, one.events, one.expected, one.drops);
  if (!one.needs.memory.empty() && one.strings != one.events) fail(fmt::format("{} strings missed", one.events - one.strings));
}

void sustain(Workload& workload, Case& one) {
  constexpr long kCalls = 5'000'000;
  OurTracer tracer(workload.pid(), one.site, one.needs);
  const double seconds = static_cast<double>(workload.run(kCalls, one.what)) / kNanoseconds;
  const Count& count = tracer.finish();
  fmt::print("{:22} {:6.2f} M events/s for {:.1f} s, {} of {} events, {} drops\n", one.name + "/rate",
             static_cast<double>(kCalls) / seconds / 1e6, seconds, count.events, kCalls, tracer.drops());
}

uint64_t offset_of(const std::string& file, const std::string& function) {
  const auto object = ElfObject::read(file);
  if (!object) fail(object.error().message);
  for (const ElfFunction& candidate : (*object)->functions())
    if (candidate.name == function) return candidate.offset;
  fail(function + " not found");
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 9;
  const long calls = argc > 2 ? std::atol(argv[2]) : 100'000;
  if (rounds < 1 || calls < 1) fail("usage: firing_cost [ROUNDS [CALLS]]");
  char path[4096] = {};
  if (readlink("/proc/self/exe", path, sizeof path - 1) <= 0) fail("no /proc/self/exe");
  const uint64_t offset = offset_of(path, "bench_hot");
  Workload workload;
  run_on(1);

  std::array<Case, 3> cases;
  cases[0].name = "uprobe/firing/count";
  cases[0].program = fmt::format("uprobe:{}:bench_hot {{ @ = count(); }}", path);
  cases[1].name = "uprobe/firing/string";
  cases[1].program = fmt::format("uprobe:{}:bench_hot {{ @[str(arg0)] = count(); }}", path);
  cases[1].needs.args = 1;
  cases[1].needs.memory = {{0, true, 0, 256}};
  cases[0].site = cases[1].site = UprobeSite{fmt::format("/proc/{}/exe", workload.pid()), offset, false, workload.pid()};
  cases[2].name = "syscall/firing/count";
  cases[2].what = What::system_call;
  cases[2].program = fmt::format("tracepoint:syscalls:sys_enter_getppid /pid == {}/ {{ @ = count(); }}", workload.pid());
  cases[2].site = TracepointSite{{KernelEvent{"sys_enter", {SYS_getppid}}}};
  for (int round = 0; round < rounds; round++)
    for (Case& one : cases) run_round(workload, calls, one);

  fmt::print("{:22} {:>20} {:>20} {:>18}\n", "added ns a firing", "dvm", "bpftrace", "ratio");
  for (const Case& one : cases) print(one);
  for (Case& one : cases) sustain(workload, one);
}
