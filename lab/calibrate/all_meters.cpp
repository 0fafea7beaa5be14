// Covered by tests/unit/lab/row_measurement_test.cpp.

#include "lab/calibrate/meter.h"

namespace dvm::lab {

using namespace runtime;

extern const Meter kDifMeter, kScriptMeter, kNativeDifMeter, kNativeScriptMeter, kTableMeter, kReplayMeter, kAccountMeter,
    kConsumerMeter, kCaptureMeter, kRingMeter, kWakeMeter, kSourceMeter, kPollMeter, kTimerMeter, kAgentMeter, kLanePollMeter;

std::span<const Meter* const> meters() {
  static const Meter* const all[] = {&kDifMeter,     &kScriptMeter, &kNativeDifMeter, &kNativeScriptMeter,
                                     &kTableMeter,   &kReplayMeter, &kAccountMeter,   &kConsumerMeter,
                                     &kCaptureMeter, &kRingMeter,   &kWakeMeter,      &kSourceMeter,
                                     &kPollMeter,    &kTimerMeter,  &kAgentMeter,     &kLanePollMeter};
  return all;
}

std::vector<Row> measured_rows() {
  std::vector<Row> rows;
  for (const Meter* meter : meters())
    for (const Row row : meter->rows())
      if (!has_row(rows, row)) rows.push_back(row);
  return rows;
}

std::span<const Unmeasured> unmeasured_rows() {
  static constexpr Unmeasured kRows[] = {{"variable/dvm_out_of_bounds"_row, "reading it is a fault"},
                                         {"source/fbt/trigger"_row, "there are no probes in the kernel's functions"}};
  return kRows;
}

}  // namespace dvm::lab
