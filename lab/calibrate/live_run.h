#pragma once
// Runs a script on the looping child and measures its firings. The price of a live row is the difference of two such runs.

#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dvm/runtime/handle.h"
#include "lab/calibrate/looping_child.h"
#include "lab/calibrate/made_up_run.h"
#include "lab/calibrate/meter.h"

namespace dvm::lab {

double cpus();  // of this machine

// In each child, a function callee has calibrated:::entry, ...again (the same once more) and ...return; others are of providers.
struct LiveCase {
  CalleeCalls calls;
  std::string script;
  Settings settings = {};  // options
  // What makes the probes fire. counter: the kernel counts firings, and no clause runs. in_thread: dvm's part does not matter.
  enum class By : uint8_t { uprobe, counter, timer, agent, agent_in_thread };
  By by = By::uprobe;
  bool fails = false;         // each firing ends with a fault
  bool is_uncounted = false;  // its records are updates of aggregations, which are no events
  uint64_t warmed = 0;        // calls before anything is timed; of a script that leaves records in the lane of the thread
  uint64_t warmed_ns = 0;     // how long these take at least, until an agent loads the memory that it has read by system calls
};

struct LiveSample {
  noise::QuietSample thread;  // ns of a call in the first child's CPU time; of the loop: of an interrupt
  noise::QuietSample in_dvm;  // ns of a firing in dvm's, with its polls
  double rate = 0;            // firings a second on each CPU
};

struct LivePolls {
  noise::QuietSample ns;  // each, in dvm's CPU time
  double firings = 0;     // each
  double late = 0;        // ns from one to the next beyond the sleep that dvm wanted
};

// One attachment to children, of which several may call at a time.
class LiveRun {
 public:
  LiveRun(const LiveCase& one, std::span<LoopingChild* const> children);

  // Throws if the program cannot be traced here, as the others do if something fails. Makes the calls that are not timed.
  void start(const dif::Program& program);
  // `callers` of the children make the calls of the case at a time, each of them all calls.
  LiveSample sample(size_t callers = 1);
  // Ns of a call in the first child's CPU time while dvm polls.
  noise::QuietSample thread(const CalleeCalls& calls);
  // Ns of one poll that finds the events of this number of calls in the ring.
  noise::QuietSample drain(uint64_t calls);
  // The first child makes the case's calls, and dvm polls as in any run.
  LivePolls poll();
  // After the last sample: throws if firings were lost, or dvm reported an error.
  void stop();
  runtime::Handle& handle() { return *handle_; }

 private:
  using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
  void empty_lanes(uint64_t events);
  void call(size_t callers);
  bool work(noise::QuietTime& in_dvm);
  noise::QuietSample finish(size_t callers);
  void find_probes(const dif::Program& program);
  void add_callees();

  const LiveCase& case_;
  std::vector<LoopingChild*> children_;
  File nowhere_{std::fopen("/dev/null", "we"), std::fclose}, messages_{std::tmpfile(), std::fclose};
  std::unique_ptr<runtime::Handle> handle_;
};

struct LiveFigures {
  noise::Middle thread;
  noise::Middle handled;          // of the loop a firing, with its polls; otherwise all firings of a call, without
  double rate = 0;                // firings a second on each CPU
  std::vector<uint64_t> buckets;  // of the script's first aggregation; empty: all was sure without running it
};

// A script's figures beside what the model says of it, in ns of a firing.
struct LiveSide {
  LiveFigures taken;
  double thread = 0, dvm = 0;
  double record_bytes = 0;  // in the lane of an agent
};

// Ns of dvm for a firing of each of the script's probes, without polls, as far as the profile prices it.
vm::Price known_firings(const std::string& script, const Bench& bench, const vm::Profile& profile, double probability = 1);

// Throws if the script cannot be traced here, or if firings were lost.
LiveFigures measure_live(const std::string& series, const LiveCase& one, LoopingChild& child, Bench& bench);

// Ns of a call of the child that is not traced.
noise::Middle measure_untraced(const std::string& series, const CalleeCalls& calls, LoopingChild& child, Bench& bench);

}  // namespace dvm::lab
