#pragma once
// Threads whose lanes were freed because they have ended. Later ones may have their numbers.

#include <x86intrin.h>

#include <utility>
#include <vector>

#include "runtime/instrument/agent/lane_reader.h"
#include "runtime/instrument/instrument.h"

namespace dvm::runtime {

class GoneThreads {
 public:
  void free_lanes(int32_t pid, LaneReader& lanes) {
    lanes.free_lanes();
    for (const int32_t tid : lanes.take_gone())
      all_.push_back({ProcessChange::What::renumbered, pid, tid}), freed_at_ = __rdtsc();
  }
  // Before a record of this time is delivered: what these threads have fired is earlier.
  void tell(uint64_t ticks, EventSink& sink) {
    if (all_.empty() || ticks <= freed_at_) return;
    for (const ProcessChange& one : std::exchange(all_, {})) sink.change(one);
  }

 private:
  std::vector<ProcessChange> all_;
  uint64_t freed_at_ = 0;  // ticks of the TSC
};

}  // namespace dvm::runtime
