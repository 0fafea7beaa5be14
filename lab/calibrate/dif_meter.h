#pragma once
// Times the cases of DIF's rows on one engine. The clock steps by more than most rows take, so a text that executes a row many
// times is run many times over between two readings; the text and its base take turns, so that a machine that changes its speed
// changes it for both. Each is known by the median of its samples, and its spread by their median distance from it: samples that
// an interrupt fell into count for no more than others.

#include <functional>
#include <string>
#include <vector>

#include "common/result.h"
#include "dvm/vm/profile.h"
#include "lab/calibrate/bench.h"
#include "lab/calibrate/dif_cases.h"
#include "lab/noise/series_book.h"

namespace dvm::runtime {

struct MeasuredRow {
  Row row;
  vm::Price price;
};

// In the order of the cases. The error names the case that does not run. told: how many of them are done, for a progress line.
Result<std::vector<MeasuredRow>> measure_dif(const std::vector<DifCase>& cases, const MeterOptions& options,
                                             const std::function<void(size_t)>& told);

}  // namespace dvm::runtime
