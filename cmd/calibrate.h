#pragma once
// dvm cost calibrate: measures the prices of this machine.

#include <cstdint>
#include <string>
#include <vector>

#include "dvm/common/result.h"
#include "dvm/vm/profile.h"

namespace dvm::cmd {

struct CalibrateOptions {
  bool quick = false;          // fewer and shorter samples
  unsigned pass = 0;           // number of the only pass to make; 0: all passes
  bool brief = false;          // the pass measures only what takes seconds, which most prices are made of
  uint64_t patient_until = 0;  // argument of SeriesBook::be_patient_until()
  double core_speed = 0;       // the speed to scale times to; 0: the current one
  vm::QuietCore quiet_core;
  std::string only;  // the first part of rows, or a row: the meters of others do not run
  std::string base;  // the profile that other rows are taken from, if `only` is given
};

// Calibrates in several passes, each in a process of its own, and every other one brief. The placement of code and data makes a
// difference of some clocks.
// In several passes, each measurement is more likely to meet a moment in which no neighbour uses the core
// (lab/noise/series_book.h). Shows its progress on standard error, if that is a terminal.
Result<vm::Profile> calibrate(const CalibrateOptions& options);

// Compares the rows that both profiles have. Rows differ if they do so by more than `share` of the larger price and by more
// than both spreads.
struct Agreement {
  size_t rows = 0;
  std::vector<std::string> different;
};
Agreement compare_profiles(const vm::Profile& a, const vm::Profile& b, double share);

}  // namespace dvm::cmd
