#pragma once
// Common parts of the benchmarks of firings: a child that calls a function in a tight loop on request, and dvm's instrument on
// it.

#include <errno.h>
#include <fmt/format.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "common/piped_child.h"
#include "runtime/instrument/uprobe/uprobe.h"
#include "runtime/symbol/elf.h"

namespace dvm::bench {

using namespace dvm::runtime;

inline constexpr long kNanoseconds = 1'000'000'000;

inline long now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * kNanoseconds + time.tv_nsec;
}

inline void run_on(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

[[noreturn]] inline void fail(const std::string& what) {
  fmt::print(stderr, "{}: {}\n", program_invocation_short_name, what);
  std::exit(1);
}

// What the child does in its loop.
using Work = void (*)(const char*);

// What a benchmark cannot do without.
template <class T>
T must(Result<T> result) {
  if (!result) fail(result.error().message);
  return *std::move(result);
}

// The traced process: runs so many calls when told, and says how long they took.
class Workload {
 public:
  pid_t pid() const { return child_.pid(); }

  // Nanoseconds for so many calls of a function that the child has too.
  long run(long calls, Work work) { return must(child_.ask({calls, work})); }

 private:
  struct Order {
    long calls;
    Work work;
  };

  static long carry_out(const Order& order) {
    run_on(0);
    const long start = now();
    for (long i = 0; i < order.calls; i++) order.work("a string of usual size");
    return now() - start;
  }

  AnsweringChild<Order, long> child_ = must(AnsweringChild<Order, long>::start(carry_out));
};

class Count final : public EventSink {
 public:
  bool fire(dvm::vm::Firing& firing) noexcept override {
    events++;
    strings += !firing.memory.empty();
    return true;
  }
  uint64_t events = 0, strings = 0;
};

using Site = decltype(Probe::site);

// Our instrument on the workload, polled every millisecond by a thread, as dvm does.
class OurTracer {
 public:
  // Returns by uretprobes, though this process of C++ is given none by default.
  OurTracer(pid_t pid, const std::vector<Site>& sites, const CaptureNeeds& needs) : instrument_(make_uprobe_instrument()) {
    std::vector<EnabledProbe> enabled;
    for (const Site& site : sites) {
      probes_.push_back(std::make_unique<Probe>());
      probes_.back()->id = static_cast<uint32_t>(3 + probes_.size());
      probes_.back()->site = site;
      enabled.push_back({probes_.back().get(), needs, {{pid}, {}}, false, ReturnBy::uretprobe});
    }
    std::vector<Refused> refused;
    const dvm::Status status = instrument_->enable(enabled, refused);
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
  uint64_t drops() const { return instrument_->drops() + instrument_->abilities().losses->missed_returns(); }

 private:
  void poll() {
    run_on(1);
    while (!stop_) {
      if (!instrument_->poll(count_)) fail("poll failed");
      usleep(1000);
    }
  }

  std::unique_ptr<Instrument> instrument_;
  std::vector<std::unique_ptr<Probe>> probes_;
  Count count_;
  std::atomic<bool> stop_ = false;
  std::thread poller_;
};

struct Spread {
  double low, median, high;
};

inline Spread spread(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const size_t n = values.size();
  return {values[n / 4], values[n / 2], values[3 * n / 4]};
}

// Nanoseconds a call: the median of several runs, so that a moment without the CPU does not count.
inline constexpr int kRuns = 5;
inline double per_call(Workload& workload, long calls, Work work) {
  std::vector<double> times;
  for (int i = 0; i < kRuns; i++) times.push_back(static_cast<double>(workload.run(calls, work)) / static_cast<double>(calls));
  return spread(std::move(times)).median;
}

inline ElfFunction function_of(const std::string& file, const std::string& function) {
  const auto object = ElfObject::read(file);
  if (!object) fail(object.error().message);
  for (const ElfFunction& candidate : (*object)->functions())
    if (candidate.name == function) return candidate;
  fail(function + " not found");
}

// The first instruction of a function in the child, which runs this same program.
inline UprobeSite site_of(const Workload& workload, const std::string& file, const std::string& function) {
  return {fmt::format("/proc/{}/exe", workload.pid()), function_of(file, function).offset, false, workload.pid()};
}

// Wherever the chooser of sites puts it.
inline UprobeSite chosen_site_of(const Workload& workload, const std::string& file, const std::string& function) {
  UprobeSite site = site_of(workload, file, function);
  const ElfFunction known = function_of(file, function);
  site.size = known.size, site.alone = known.alone;
  return site;
}

inline std::string own_file() {
  char path[4096] = {};
  if (readlink("/proc/self/exe", path, sizeof path - 1) <= 0) fail("no /proc/self/exe");
  return path;
}

}  // namespace dvm::bench
