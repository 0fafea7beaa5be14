#pragma once
// Threads whose lanes were freed because they have ended. Later ones may have their numbers.
// Tested by tests/unit/instrument/lane_reader_test.cpp.

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
  // Before a record of this time is delivered: what a thread has fired is earlier than its lane was freed. A later thread with
  // its number may fire at once.
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
