#pragma once
// A script on the looping child, and what its firings take: the price of what a live firing has is the difference of two such
// runs.

#include <string>
#include <utility>
#include <vector>

#include "runtime/cost/calibrate/looping_child.h"
#include "runtime/cost/calibrate/middle.h"
#include "runtime/cost/calibrate/script_meter.h"

namespace dvm::runtime {

// Of this machine, as a timer on each counts them.
double cpus();

struct LiveMeterOptions {
  unsigned samples = 7;     // with the probe, and as many without
  uint64_t calls = 10'000;  // a sample
};

// The probes of a function stub are calibrated:::entry, calibrated:::again, which is the same, and calibrated:::return; others are those of the providers.
struct LiveCase {
  StubCalls calls;
  std::string script;
  std::vector<std::pair<const char*, const char*>> settings = {};  // options
  bool is_counted_only = false;  // the kernel counts the firings, and no more: no clause ever runs
};

struct LiveFigures {
  Middle thread;        // ns of a call in the child's CPU time; of the loop: the part of its time that something else took
  Middle handled;       // ns of a firing in dvm's
  double rate = 0;      // firings a second on each CPU
  std::string printed;  // by the script
};

// An error: the script cannot be had here, or firings were lost.
Result<LiveFigures> measure_live(const LiveCase& one, LoopingChild& child, const CompileScript& compile,
                                 const LiveMeterOptions& options);

// Ns of a call of the child that nobody traces.
Result<Middle> measure_untraced(const StubCalls& calls, LoopingChild& child, const LiveMeterOptions& options);

}  // namespace dvm::runtime
