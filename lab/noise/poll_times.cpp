// Covered by tests/unit/lab/poll_times_test.cpp.

#include "lab/noise/poll_times.h"

#include <algorithm>
#include <utility>

#include "lab/noise/quiet_time.h"

namespace dvm::lab::noise {
namespace {

constexpr double kInterrupted = 3;  // times as long as it should
constexpr double kEnough = 0.02;    // of the polls
constexpr size_t kFewest = 3;       // polls

// The line through the middle of some polls: ns by firings.
struct StraightLine {
  double ns = 0, firings = 0, slope = 0;  // its middle
  double at(double some) const { return ns + slope * (some - firings); }
};

StraightLine line_through(const std::vector<TimedPoll>& polls) {
  StraightLine line;
  const double count = static_cast<double>(std::max<size_t>(polls.size(), 1));
  for (const TimedPoll& poll : polls) line.ns += poll.ns / count, line.firings += poll.firings / count;
  double square = 0, product = 0;
  for (const TimedPoll& poll : polls) {
    const double away = poll.firings - line.firings;
    square += away * away, product += away * (poll.ns - line.ns);
  }
  line.slope = square > 0 ? std::max(product / square, 0.0) : 0;
  return line;
}

// Removes polls that took so many times as long as the line through all of them or, if only_quiet, as most do beside the line.
void leave_out(std::vector<TimedPoll>& polls, double most, bool only_quiet) {
  const StraightLine rough = line_through(polls);
  std::vector<double> of_line;
  for (const TimedPoll& poll : polls)
    if (only_quiet && rough.at(poll.firings) > 0) of_line.push_back(poll.ns / rough.at(poll.firings));
  if (only_quiet) most *= middle(std::move(of_line)).median;
  std::erase_if(polls, [&](const TimedPoll& poll) { return poll.ns > most * rough.at(poll.firings); });
}

double time_of_alike(const QuietTime& pieces) {
  QuietSamples samples(1);
  samples.add(pieces);
  return pieces.things() * samples.middle().median;
}

double time_of_kind(std::vector<TimedPoll> polls) {
  if (polls.empty()) return 0;
  const auto all = static_cast<double>(polls.size());
  double firings = 0;
  for (const TimedPoll& poll : polls) firings += poll.firings;
  const double quiet = count_quiet(polls);
  const bool only_quiet = quiet >= kFewest && quiet >= kEnough * all;
  if (only_quiet) std::erase_if(polls, [](const TimedPoll& poll) { return !poll.is_quiet; });
  leave_out(polls, kInterrupted, false);
  if (only_quiet) leave_out(polls, kDisturbed, true);
  return all * line_through(polls).at(firings / all);
}

}  // namespace

double count_quiet(const std::vector<TimedPoll>& polls) {
  return static_cast<double>(std::count_if(polls.begin(), polls.end(), [](const TimedPoll& poll) { return poll.is_quiet; }));
}

double time_of(std::vector<TimedPoll> polls) {
  const auto reading = std::partition(polls.begin(), polls.end(), [](const TimedPoll& poll) { return poll.reads == 0; });
  return time_of_kind({polls.begin(), reading}) + time_of_kind({reading, polls.end()});
}

double time_of_replay(const std::vector<TimedPoll>& polls) {
  QuietTime firings, steps, reads;
  for (const TimedPoll& poll : polls) {
    firings.add({std::max(poll.ns - poll.consumer, 0.0), poll.is_quiet}, poll.firings);
    (poll.steps > 0 ? steps : reads).add({poll.consumer, poll.is_quiet}, poll.steps > 0 ? poll.steps : poll.reads);
  }
  return time_of_alike(firings) + time_of_alike(steps) + time_of_alike(reads);
}

}  // namespace dvm::lab::noise
