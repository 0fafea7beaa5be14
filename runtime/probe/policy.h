#pragma once
// The stage-stamp policies of the ECB loop, a template parameter of it like the engine's cost policy: which form of a DIFO runs,
// whether it is counted, and whether the cycle counter is read around the stages.
//   Unaccounted  nothing is counted; chosen once, for all firings, of a run without accounting
//   Counted      firings, hits, faults, actions
//   TimedDif     the same, and each instruction is timed: firings 0 to 15 of an ECB, then one in kSampleEvery
//   TimedStages  the same, and the stages and actions are timed, with DIF in its fast form: other firings than those of TimedDif,
//                since timing each instruction makes the whole several times slower
//   TimedAll     both, on every firing of a run under CostPolicy::time

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

struct TimedStages : Counted {
  using Stamp = TickStamp;
};

struct TimedDif : Counted {
  static vm::PreparedDifo& difo(Value& value) { return *value.timed; }
  static RecordAction entry(const Action& action) { return action.run_timed; }
};

struct TimedAll : TimedDif {
  using Stamp = TickStamp;
};

constexpr bool times_dif(uint64_t firing) { return firing < kSampleFirst || firing % kSampleEvery == 0; }
constexpr bool times_stages(uint64_t firing) {
  return (firing >= kSampleFirst && firing < 2 * kSampleFirst) || firing % kSampleEvery == kSampleEvery / 2;
}

}  // namespace dvm::runtime
