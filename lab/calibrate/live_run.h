#pragma once
// A script on the looping child, and what its firings take: the price of what a live firing has is the difference of two such
// runs.

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "lab/calibrate/bench.h"
#include "lab/calibrate/looping_child.h"
#include "lab/calibrate/script_meter.h"
#include "lab/noise/middle.h"
#include "lab/noise/quiet_time.h"

namespace dvm::lab {

// Of this machine, as a timer on each counts them.
double cpus();

// The probes of a function stub are calibrated:::entry, calibrated:::again, which is the same, and calibrated:::return, in each
// child; others are those of the providers.
struct LiveCase {
  StubCalls calls;
  std::string script;
  std::vector<std::pair<const char*, const char*>> settings = {};  // options
  bool is_counted_only = false;  // the kernel counts the firings, and no more: no clause ever runs
};

struct LiveSample {
  noise::QuietSample thread;  // ns of a call in the first child's CPU time; of the loop: of an interrupt of it
  noise::QuietSample looked;  // ns of a firing in dvm's, with the looks for it
  double rate = 0;            // firings a second on each CPU
};

// Looks for firings.
struct LiveLooks {
  noise::QuietSample ns;  // each, in dvm's CPU time
  double firings = 0;     // each
  double late = 0;        // ns that passed from one to the next, but for those that dvm wanted to sleep
};

// One attachment to children, of which several may call at a time.
class LiveRun {
 public:
  LiveRun(const LiveCase& one, std::span<LoopingChild* const> children);
  ~LiveRun();
  LiveRun(const LiveRun&) = delete;
  LiveRun& operator=(const LiveRun&) = delete;

  // An error: the program cannot be traced here.
  Status start(const dif::Program& program);
  // So many of the children do the case's calls, each all of them.
  Result<LiveSample> sample(size_t callers = 1);
  // Ns of a call in the first child's CPU time, of calls that the case's probes are on; dvm looks for them meanwhile.
  Result<noise::QuietSample> thread(const StubCalls& calls);
  // The first child does so many calls, and only then dvm looks for what they have left in the ring: ns of dvm's CPU time.
  Result<noise::QuietSample> drain(uint64_t calls);
  // The first child does the case's calls, and dvm looks for them as it does in any run.
  Result<LiveLooks> look();
  // After the last sample: nothing must have been lost. What was printed.
  Result<std::string> stop();

 private:
  class Text;
  Status call(size_t callers);
  bool work(noise::QuietTime& looked);
  Result<noise::QuietSample> finish(size_t callers);
  Status find_probes(const dif::Program& program);
  Status add_stubs();

  const LiveCase& case_;
  std::vector<LoopingChild*> children_;
  std::unique_ptr<Text> printed_;
  std::unique_ptr<Handle> handle_;
};

struct LiveFigures {
  noise::Middle thread;
  noise::Middle handled;  // of the loop a firing, with the looks; else all firings of a call, without
  double rate = 0;
  std::string printed;  // by the script; nothing, if all was sure without running it
};

// Ns of dvm for a firing of each of the script's probes, without the look, as far as it is known without what is live; predicates
// hold as often as that.
vm::Price known_firings(const std::string& script, const CompileScript& compile, const vm::Profile& profile,
                        double probability = 1);

// `series`: a name for what is measured. An error: the script cannot be had here, or firings were lost.
Result<LiveFigures> measure_live(const std::string& series, const LiveCase& one, LoopingChild& child,
                                 const CompileScript& compile, const LiveMeterOptions& options);

// Ns of a call of the child that nobody traces.
Result<noise::Middle> measure_untraced(const std::string& series, const StubCalls& calls, LoopingChild& child,
                                       const LiveMeterOptions& options);

}  // namespace dvm::lab
