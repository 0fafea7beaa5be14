#pragma once
// dvm cost validate: measures a row on a live process, untraced and traced in alternation, and predicts it from a profile.
//
//   call    CPU time of a round, traced less untraced, and dvm's                        beside the cost of a firing (4)
//   share   the same, at the traced rate: as the paper has it, the traced share of a
//           CPU - untraced share * traced rate / untraced rate                          beside probes and consumer (7, 8)
//   timer   what the interrupts by timers take of a CPU, and dvm's share                likewise
//   plain   clocks a round, less those of the baseline; what is off costs nothing       nothing, or no prediction
//
// dvm's time is that of the thread that handles firings. All times are those of quiet cores (core_share.h); pairs of samples that
// had too few of these are repeated (quietest.h). Of the rest the slower half is left out of what
// the workload took (middle.h), but of dvm's time none: to wake up is another time each time.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dvm/vm/profile.h"
#include "lab/noise/middle.h"
#include "lab/validate/live_rows.h"
#include "lab/validate/traced_program.h"
#include "lab/validate/workload_child.h"
#include "runtime/cost/predict.h"

namespace dvm::runtime {

struct LiveSettings {
  unsigned pairs = 7;       // untraced and traced samples
  double seconds = 1;       // of a sample of a share
  double rounds_share = 1;  // of the rounds of a sample at full speed
};

struct Predicted {
  double value = 0, spread = 0;
  double one_percent_rate = 0;  // rounds a second that cost 1 % of a CPU; 0: not known
};

struct LiveResult {
  const LiveRow* row = nullptr;
  std::string problem;  // why it was not measured
  double measured = 0, spread = 0;
  double thread = 0, dvm = 0;     // of it, the traced process's and dvm's
  std::optional<double> by_stat;  // % of a CPU by /proc/stat, which sees all that runs
  double rate = 0;                // rounds a second, traced
  std::optional<Predicted> predicted;
  std::set<std::string> missing;  // rows without a price
  uint64_t drops = 0;
  double quiet = 0;  // share of the rounds that were done on a core of the workload's own

  bool is_measured() const { return problem.empty() && row->measure != Measure::absent; }
  // Of the prediction, in per cent of the measured cost.
  std::optional<double> error() const;
  bool is_within() const;  // the error bars
  double one_percent_rate() const { return measured > 0 ? 1e7 / measured : 0; }
};

class LiveValidation {
 public:
  LiveValidation(const vm::Profile& profile, OpenTraced open, std::string workload, const LiveSettings& settings)
      : profile_(profile), open_(std::move(open)), workload_(std::move(workload)), settings_(settings) {}

  // What cannot be measured says why in `problem`.
  LiveResult measure(const LiveRow& row);
  // Bytes of a nop marker, a load-test-branch and a semaphore.
  Result<std::vector<long>> sizes();

 private:
  struct Sample {
    JobTimes times;
    double dvm = 0, busy = 0;  // ns: of dvm's thread, of all CPUs by /proc/stat
    uint64_t firings = 0;
    double dvm_quiet = 1;  // share of dvm's looks for firings
  };
  struct Pair {
    Sample untraced, traced;
    double quiet = 0;  // share of the rounds or looks of that which had the fewest
  };

  Result<LiveResult> try_measure(const LiveRow& row);
  Result<LiveResult> measure_plain(const LiveRow& row);
  Result<LiveResult> measure_peer(const LiveRow& row);
  Result<LiveResult> measure_traced(const LiveRow& row);
  Job job_of(const LiveRow& row) const;
  Result<Pair> measure_pair(const Job& job, WorkloadChild& child, LiveResult& result) const;
  Result<Pair> measure_peer_pair(const LiveRow& row, const Job& job, WorkloadChild& child) const;
  Result<Sample> trace(TracedProgram& program, const Job& job, WorkloadChild& child) const;
  static double firings_of(const LiveRow& row, const Sample& traced);
  static double thread_time(const LiveRow& row, const Sample& sample);
  Result<SourcesOfProbes> find_sources_of(TracedProgram& program, const Job& job, WorkloadChild& child) const;
  Status predict_row(TracedProgram& program, SourcesOfProbes sources, double rounds_rate, double firings,
                     LiveResult& result) const;

  const vm::Profile& profile_;
  OpenTraced open_;
  std::string workload_;
  LiveSettings settings_;
};

}  // namespace dvm::lab
