#pragma once
// The stage-stamp policies of the ECB loop, a template parameter of it like the engine's cost policy: which form of a DIFO runs,
// whether it is counted, and whether the cycle counter is read around the stages.
//   Unaccounted  nothing is counted; chosen once, for all firings, of a run without accounting
//   Counted      firings, hits, faults, actions
//   Sampled      the same, and ticks: the first firings of an ECB and then one in kSampleEvery

#include <x86intrin.h>

#include <cstdint>

#include "dvm/vm/cost.h"
#include "runtime/enabling/ecb.h"

namespace dvm::runtime {

inline constexpr uint64_t kSampleFirst = 16;
inline constexpr uint64_t kSampleEvery = 64;

struct NoStamp {
  void close(vm::Tally&) {}
  void close(ActionTally&) {}
};

class TickStamp {
 public:
  TickStamp() : begin_(__rdtsc()) {}
  template <class T>
  void close(T& tally) {
    tally.ticks += __rdtsc() - begin_;
    tally.timed++;
  }

 private:
  uint64_t begin_;
};

struct Unaccounted {
  static constexpr bool counts = false;
  using Stamp = NoStamp;
  static vm::PreparedDifo& difo(Value& value) { return *value.difo; }
  static RecordAction entry(const Action& action) { return action.run; }
};

struct Counted : Unaccounted {
  static constexpr bool counts = true;
};

struct Sampled {
  static constexpr bool counts = true;
  using Stamp = TickStamp;
  static vm::PreparedDifo& difo(Value& value) { return *value.timed; }
  static RecordAction entry(const Action& action) { return action.run_timed; }
};

}  // namespace dvm::runtime
