#pragma once
// dvm cost calibrate: measures the prices of this machine.

#include <cstdint>
#include <string>
#include <vector>

#include "common/result.h"
#include "dvm/vm/profile.h"

namespace dvm::cmd {

struct CalibrateOptions {
  bool quick = false;          // fewer and shorter samples: to try it, not to rely on
  unsigned pass = 0;           // not 0: only this one, as a part of another calibration, which has handed it its book of series
  uint64_t patient_until = 0;  // of a pass (SeriesBook::be_patient_until)
  double core_speed = 0;       // that times are given at; 0: as it is now
  vm::QuietCore quiet_core;
};

// In several passes, each in a process of its own: where code and data happen to lie makes a difference of some clocks, and each
// thing may meet a moment in one of them in which nobody else uses the core (lab/noise/series_book.h). Shows how far
// it is on standard error, where that is a terminal.
Result<vm::Profile> calibrate(const CalibrateOptions& options);

// Of the rows that both have, how many differ by more than `share` of the larger price and by more than both spreads.
struct Agreement {
  size_t rows = 0;
  std::vector<std::string> different;
};
Agreement compare_profiles(const vm::Profile& a, const vm::Profile& b, double share);

}  // namespace dvm::cmd
