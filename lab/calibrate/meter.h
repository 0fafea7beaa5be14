#pragma once
// A meter measures some rows of a profile and sets their prices. Calibration runs all meters in their order, since a price is
// what is left when prices that are known are subtracted; a benchmark runs the meter of one row.

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lab/calibrate/bench.h"
#include "runtime/cost/rows.h"

namespace dvm::lab {

struct Meter {
  std::string_view subject;     // for a progress line
  std::string_view unmeasured;  // where probes may be impossible: "the ring was", of a profile that does without
  std::vector<Row> (*rows)();
  // All of the rows, or at least the one. The profile has the prices of the meters before this one; without them the price of a
  // row includes what they would subtract.
  Status (*measure)(const Bench& bench, std::optional<Row> only, vm::Profile& profile);
};

extern const Meter kDifMeter, kScriptMeter, kActionMeter, kTableMeter, kReplayMeter, kAccountMeter, kConsumerMeter, kCaptureMeter,
    kProcessMeter, kRingMeter, kRestMeter, kSourceMeter, kLookMeter, kTimerMeter;

// In the order of calibration.
std::span<const Meter* const> meters();

}  // namespace dvm::runtime
