#pragma once
// Results of each series of samples in all passes of a calibration. A neighbour makes a series longer, sometimes for a minute,
// but hardly in every pass. So a pass starts with the results of those before it, and makes its prices from the lowest result of
// each series. Prices themselves cannot be mixed like that: many are differences, and must come from the same moment.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"
#include "lab/noise/middle.h"
#include "lab/noise/quiet_time.h"

namespace dvm::lab::noise {

class SeriesBook {
 public:
  // Adds the result of this pass and returns the lowest of all passes. Its distance is at least half of the gap to the next one,
  // up to 3 %. A series has the same name in each pass.
  Middle settle(const std::string& series, const Middle& found, bool is_quiet = true);
  Middle settle(const std::string& series, const QuietSamples& samples);

  // True if three passes agree on quiet cores: two may have had the same neighbour. A further pass then needs no samples.
  bool is_sure(const std::string& series) const;
  // Until then (CLOCK_MONOTONIC, ns), series that no pass found quiet are tried more often.
  void be_patient_until(uint64_t time) { patient_until_ = time; }
  // Samples to take of the series: none if it is sure.
  QuietSamples samples_of(const std::string& series, unsigned samples) const;
  // The result so far; 0 without one.
  Middle settled(const std::string& series) const;
  // For times that vary anyway, such as waking up: the median of the passes that found it quiet, or of all.
  Middle settle_middle(const std::string& series, const Middle& found, bool is_quiet = true);

  // Share of the series that no pass found quiet.
  double disturbed() const;

  // JSON, for the next pass.
  std::string text() const;
  static Result<SeriesBook> parse(std::string_view text);

 private:
  struct Found {
    Middle of_pass;
    bool is_quiet = false;  // the core was
  };
  const std::vector<Found>& keep(const std::string& series, const Found& now);
  static Middle settled(const std::vector<Found>& all);
  static bool was_quiet(const std::vector<Found>& all);

  std::map<std::string, std::vector<Found>> series_;  // the least first
  uint64_t patient_until_ = 0;
};

}  // namespace dvm::lab::noise
