#pragma once
// What each series of samples came to, in all passes of a calibration. Whoever else uses a core makes what is timed on it longer,
// often for all of a series and sometimes for all of a minute, but hardly in every pass. So a pass begins with what those before
// it found, and makes its prices of the lowest that was found of each series. Prices themselves could not be mixed like that:
// many are what is left of a script when others are taken off, and those of one moment fit no script of another.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"
#include "lab/noise/middle.h"
#include "lab/noise/quiet_time.h"

namespace dvm::lab::noise {

// Of some series those that had quiet samples enough.
struct QuietSeries {
  size_t quiet = 0, all = 0;
  double disturbed() const { return all > 0 ? static_cast<double>(all - quiet) / static_cast<double>(all) : 0; }  // a part
};

class SeriesBook {
 public:
  // Of this pass: notes what it found, and returns the least of all. It may be off by half of what it is apart from the next one,
  // but no more than a thirtieth: that others were disturbed says little about it. `series`: the same name in each pass, and
  // another for each series.
  Middle settle(const std::string& series, const Middle& found, bool is_quiet);
  Middle settle(const std::string& series, const QuietSamples& samples);

  // Whether two passes have found the same on quiet cores, so that a further one has no need to take samples of it: it then
  // settles the series with none.
  bool is_sure(const std::string& series) const;
  // Until then (CLOCK_MONOTONIC, ns) more tries are made of what the passes before did not find quiet.
  void be_patient_until(uint64_t time) { patient_until_ = time; }
  // How often to try for its samples, where others are tried so often.
  unsigned tries(const std::string& series, unsigned usual) const;
  // What was found of it so far; of none, nothing.
  Middle settled(const std::string& series) const;
  // Of what is not only longer where it is disturbed, but another time each time, such as waking up: the one in the middle of the
  // passes that found it quiet, or of all.
  Middle settle_middle(const std::string& series, const Middle& found, bool is_quiet = true);

  // Of the series, those that any pass found quiet.
  QuietSeries quiet_series() const;

  // As JSON, to hand it on. An error: the text is none of a book.
  std::string text() const;
  static Result<SeriesBook> parse(std::string_view text);

 private:
  struct Found {
    Middle of_pass;
    bool is_quiet = false;  // the core was
  };
  const std::vector<Found>& keep(const std::string& series, const Found& now);
  static Middle settled(const std::vector<Found>& all);
  static bool is_less(const Found& a, const Found& b) { return a.of_pass.median < b.of_pass.median; }
  // Whether a pass found it so.
  static bool was_quiet(const std::vector<Found>& all);

  std::map<std::string, std::vector<Found>> series_;  // the least first
  uint64_t patient_until_ = 0;
};

// As many samples as that, or none of a series that is sure.
unsigned wanted(const SeriesBook* book, const std::string& series, unsigned samples);
// The same, with as many tries as it needs.
QuietSamples samples_of(const SeriesBook* book, const std::string& series, unsigned samples, unsigned tries = kUsualTries);
// Without a book, what the samples say by themselves.
Middle settle(SeriesBook* book, const std::string& series, const QuietSamples& samples);
Middle settle(SeriesBook* book, const std::string& series, const Middle& found);
Middle settle_middle(SeriesBook* book, const std::string& series, const Middle& found, bool is_quiet = true);

}  // namespace dvm::noise
