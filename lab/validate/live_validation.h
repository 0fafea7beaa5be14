#pragma once
// dvm cost validate: measures its rows on a live process, untraced and traced in turn, and predicts them from a
// profile. Times are those with an idle SMT sibling (core_share.h); pairs of samples with too few of these are repeated
// (quietest). The slower half of the workload's samples is left out. None of dvm's samples is, since the cost of waking up
// differs each time.

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/vm/profile.h"
#include "lab/validate/traced_job.h"
#include "runtime/cost/assumptions.h"

namespace dvm::lab {

// What is measured, and the equations that predict it.
enum class Measure : uint8_t {
  share,   // Per cent of a CPU at the traced rate: traced share - untraced share * traced / untraced rate. Equations (7), (8).
  timer,   // Per cent of a CPU: interrupts by timers, and dvm's share. Equations (7), (8).
  call,    // Nanoseconds a round at full speed: CPU time of traced rounds less that of untraced ones, and dvm's. Equation (4).
  plain,   // Clocks a round, less those of another job, if there is one. No prediction.
  peer,    // Nanoseconds a round, traced by bpftrace.
  absent,  // Not measured.
};

struct LiveRow {
  std::string_view group;  // a: Tao and Yang, c: Gregg, d: GitLab, e: LTTng, f: by an agent (b is --paper)
  std::string_view name;   // what --only asks for
  std::string_view title;
  std::string_view reference;  // the document's figure
  Measure measure;
  std::string_view job;
  long rounds;                    // at full speed, of one sample
  std::string_view program = {};  // of plain: the other job; of peer: the function; of absent: the reason
  std::string_view setting = {};  // words, as for -x
  double frames = 1;              // of the stack where it fires
  double returns = 0;             // functions that return behind it before others are called
  double probability = 1;         // that a predicate holds
};

// Those whose name or group is asked for, all if nothing is. An error names what there is not.
std::vector<const LiveRow*> find_live_rows(std::span<const std::string> names, std::string& unknown);

struct LiveSettings {
  unsigned pairs = 7;       // untraced and traced samples
  double seconds = 1;       // of a sample of a share
  double rounds_share = 1;  // of the rounds of a sample at full speed
};

struct Predicted {
  double value = 0, spread = 0;
};

// Rounds of so many ns that take 1 % of a CPU, a second; 0: not known.
inline double one_percent_rate(double ns) { return ns > 0 ? 1e7 / ns : 0; }

struct LiveResult {
  const LiveRow* row = nullptr;
  std::string problem;  // why it was not measured
  double measured = 0, spread = 0;
  double thread = 0, dvm = 0;          // of it, the traced process's and dvm's
  std::optional<double> by_stat;       // % of a CPU by /proc/stat, which sees all that runs
  double rate = 0;                     // rounds a second, traced
  std::optional<Predicted> predicted;  // nothing: the profile lacks prices, or there is no prediction of such a row
  std::set<std::string> missing;       // rows without a price
  uint64_t drops = 0;
  double quiet = 0;  // share of the rounds with an idle SMT sibling

  bool is_measured() const { return problem.empty() && row->measure != Measure::absent; }
  std::optional<double> error() const;  // of the prediction, in per cent of the measured cost
  bool is_within() const;               // the error bars
};

struct LiveValidation {
  const vm::Profile& profile;
  OpenTraced open;
  std::string workload;
  LiveSettings settings;

  // What cannot be measured says why in `problem`.
  LiveResult measure(const LiveRow& row) const;
  // Bytes of a nop marker, a load-test-branch and a semaphore.
  Result<std::vector<long>> sizes() const;
};

}  // namespace dvm::lab
