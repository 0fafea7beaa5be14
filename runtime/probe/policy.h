#pragma once
// The accounting policies of the ECB loop, which is a template on them. A policy decides which form of a DIFO runs, whether it is
// counted, and whether the cycle counter is read around the stages.
//   Unaccounted  Counts nothing. Used for all firings of a run without accounting.
//   Counted      Counts firings, hits, faults and actions.
//   TimedDif     Also times each instruction. Used for firings 0 to 15 of an ECB, then for one in kSampleEvery.
//   TimedStages  Counts, and times the stages and actions, with the fast form of DIF. Used for the firings that TimedDif
//                does not time, because timing each instruction makes a firing several times slower.
//   TimedAll     Times both. Used for every firing of a run under CostPolicy::time.

#include <cstdint>

#include "runtime/probe/context.h"

namespace dvm::runtime {

inline constexpr uint64_t kSampleFirst = 16;
inline constexpr uint64_t kSampleEvery = 64;

struct NoStamp {
  explicit NoStamp(StampClock&) {}
  void close(vm::Tally&) {}
  void close(ActionTally&) {}
};

// Times the code between its construction and close(), and subtracts the cost of reading the clock: once for itself, and twice
// for each nested stamp. Because the clock advances in steps, a single time may be negative; only sums are meaningful.
class TickStamp {
 public:
  explicit TickStamp(StampClock& clock) noexcept : clock_(clock), before_(clock.begin()), begin_(vm::read_ticks()) {}
  template <class T>
  void close(T& tally) noexcept {
    const uint64_t ticks = vm::read_ticks() - begin_;
    tally.ticks += ticks - clock_.cost() * (1 + 2 * (clock_.made() - before_));
    tally.timed++;
  }

 private:
  StampClock& clock_;
  uint64_t before_, begin_;
};

struct Unaccounted {
  static constexpr bool counts = false;
  static constexpr bool takes_body = true;  // runs the body of machine code, if there is one
  using Stamp = NoStamp;
  static uint64_t run(const ValueCode& value, FireLevel& level) noexcept {
    return value.difo->run(level.state, level.costs + value.costs);
  }
  static RecordAction entry(const ActionCode& action) { return action.run; }
};

struct Counted : Unaccounted {
  static constexpr bool counts = true;
};

struct TimedStages : Counted {
  static constexpr bool takes_body = false;
  using Stamp = TickStamp;
};

struct TimedDif : Counted {
  static constexpr bool takes_body = false;
  static uint64_t run(const ValueCode& value, FireLevel& level) noexcept {
    return value.timed->run(level.state, level.costs + value.timed_costs);
  }
  static RecordAction entry(const ActionCode& action) { return action.run_timed; }
};

struct TimedAll : TimedDif {
  using Stamp = TickStamp;
};

constexpr bool times_dif(uint64_t firing) { return firing < kSampleFirst || firing % kSampleEvery == 0; }
constexpr bool times_stages(uint64_t firing) {
  return (firing >= kSampleFirst && firing < 2 * kSampleFirst) || firing % kSampleEvery == kSampleEvery / 2;
}

}  // namespace dvm::runtime
