#pragma once
// Threads that have ended, and whose lanes were freed. Later threads may get their ids.

#include <x86intrin.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/instrument/agent/lane_reader.h"
#include "runtime/instrument/instrument.h"

namespace dvm::runtime {

class GoneThreads {
 public:
  void free_lanes(int32_t pid, LaneReader& lanes) {
    lanes.free_lanes();
    for (const int32_t tid : lanes.take_gone()) add(pid, tid, __rdtsc());
  }
  // freed_at: ticks of the TSC, not before those of threads that were added earlier.
  void add(int32_t pid, int32_t tid, uint64_t freed_at) {
    all_.push_back({{ProcessChange::What::renumbered, pid, tid}, freed_at});
  }
  // Call before a record of this time is delivered. Reports the threads whose lanes were freed before: all their firings are
  // earlier, and a new thread with the same id may fire at once.
  void tell(uint64_t ticks, EventSink& sink) {
    if (all_.empty() || ticks <= all_.front().freed_at) return;
    const auto later = std::find_if(all_.begin(), all_.end(), [&](const Gone& one) { return ticks <= one.freed_at; });
    for (auto one = all_.begin(); one != later; ++one) sink.change(one->change);
    all_.erase(all_.begin(), later);
  }

 private:
  struct Gone {
    ProcessChange change;
    uint64_t freed_at = 0;
  };
  std::vector<Gone> all_;
};

}  // namespace dvm::runtime
