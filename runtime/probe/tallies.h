#pragma once
// Counters of the firings of one context, under an accounting policy (policy.h). The session adds the counters of several
// contexts.

#include <cstdint>
#include <vector>

#include "dvm/vm/cost.h"
#include "runtime/probe/code.h"

namespace dvm::runtime {

// The cost of one action.
struct ActionTally {
  uint64_t count = 0, timed = 0, ticks = 0;
  uint64_t bytes = 0;  // of strings and structures that it stored, in records or as keys

  ActionTally& operator+=(const ActionTally& more) {
    count += more.count, timed += more.timed, ticks += more.ticks, bytes += more.bytes;
    return *this;
  }
};

struct EcbTallies {
  explicit EcbTallies(const EcbCode& code) : actions(code.actions.size()), costs(code.cost_count) {}

  uint64_t firings = 0;
  uint64_t predicate_hits = 0;
  uint64_t faults = 0;
  std::vector<ActionTally> actions;
  std::vector<vm::OpCost> costs;  // by ValueCode::costs

  // Adds everything except `costs`, which PreparedDifo::take_counts() reads.
  EcbTallies& operator+=(const EcbTallies& more) {
    firings += more.firings, predicate_hits += more.predicate_hits, faults += more.faults;
    for (size_t i = 0; i < actions.size(); i++) actions[i] += more.actions[i];
    return *this;
  }
};

// The cost of reading the cycle counter, and the number of stamps so far.
class StampClock {
 public:
  // Measures the cost of a reading, before the first stamp of a run.
  void calibrate() noexcept { cost_ = static_cast<uint64_t>(vm::calibrate_ticks()); }
  uint64_t cost() const noexcept { return cost_; }
  uint64_t made() const noexcept { return made_; }
  uint64_t begin() noexcept { return ++made_; }

 private:
  uint64_t cost_ = 0, made_ = 0;
};

}  // namespace dvm::runtime
