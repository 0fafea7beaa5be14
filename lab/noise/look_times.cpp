// Covered by tests/unit/lab/look_times_test.cpp.

#include "lab/noise/look_times.h"

#include <algorithm>
#include <utility>

#include "lab/noise/quiet_time.h"

namespace dvm::lab::noise {
namespace {

constexpr double kInterrupted = 3;  // times as long as it should
constexpr double kEnough = 0.02;    // of the looks
constexpr size_t kFewest = 3;       // looks

// The line through the middle of some looks: ns by firings.
struct StraightLine {
  double ns = 0, firings = 0, slope = 0;  // its middle
  double at(double some) const { return ns + slope * (some - firings); }
};

StraightLine line_through(const std::vector<Look>& looks) {
  StraightLine line;
  const double count = static_cast<double>(std::max<size_t>(looks.size(), 1));
  for (const Look& look : looks) line.ns += look.ns / count, line.firings += look.firings / count;
  double square = 0, product = 0;
  for (const Look& look : looks) {
    const double away = look.firings - line.firings;
    square += away * away, product += away * (look.ns - line.ns);
  }
  line.slope = square > 0 ? std::max(product / square, 0.0) : 0;
  return line;
}

// Removes polls that took so many times as long as the line through all of them or, if only_quiet, as most do beside the line.
void leave_out(std::vector<Look>& looks, double most, bool only_quiet) {
  const StraightLine rough = line_through(looks);
  std::vector<double> of_line;
  for (const Look& look : looks)
    if (only_quiet && rough.at(look.firings) > 0) of_line.push_back(look.ns / rough.at(look.firings));
  if (only_quiet) most *= middle(std::move(of_line)).median;
  std::erase_if(looks, [&](const Look& look) { return look.ns > most * rough.at(look.firings); });
}

double time_of_alike(const QuietTime& pieces) {
  QuietSamples samples(1);
  samples.add(pieces);
  return pieces.things() * samples.middle().median;
}

double time_of_kind(std::vector<Look> looks) {
  if (looks.empty()) return 0;
  const auto all = static_cast<double>(looks.size());
  double firings = 0;
  for (const Look& look : looks) firings += look.firings;
  const double quiet = count_quiet(looks);
  const bool only_quiet = quiet >= kFewest && quiet >= kEnough * all;
  if (only_quiet) std::erase_if(looks, [](const Look& look) { return !look.is_quiet; });
  leave_out(looks, kInterrupted, false);
  if (only_quiet) leave_out(looks, kDisturbed, true);
  return all * line_through(looks).at(firings / all);
}

}  // namespace

double count_quiet(const std::vector<Look>& looks) {
  return static_cast<double>(std::count_if(looks.begin(), looks.end(), [](const Look& look) { return look.is_quiet; }));
}

double time_of(std::vector<Look> looks) {
  const auto reading = std::partition(looks.begin(), looks.end(), [](const Look& look) { return look.reads == 0; });
  return time_of_kind({looks.begin(), reading}) + time_of_kind({reading, looks.end()});
}

double time_of_replay(const std::vector<Look>& looks) {
  QuietTime firings, steps, reads;
  for (const Look& look : looks) {
    firings.add({std::max(look.ns - look.consumer, 0.0), look.is_quiet}, look.firings);
    (look.steps > 0 ? steps : reads).add({look.consumer, look.is_quiet}, look.steps > 0 ? look.steps : look.reads);
  }
  return time_of_alike(firings) + time_of_alike(steps) + time_of_alike(reads);
}

}  // namespace dvm::lab::noise
