// Covered by tests/unit/runtime/quiet_looks_test.cpp.

#include "runtime/cost/quiet_looks.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/clock.h"
#include "runtime/instrument/pace.h"

namespace dvm::runtime {
namespace {

constexpr double kInterrupted = 3;  // times as long as it should
constexpr double kEnough = 0.02;    // of the looks
constexpr size_t kFewest = 3;       // looks

double count_quiet(const std::vector<Look>& looks) {
  return static_cast<double>(std::count_if(looks.begin(), looks.end(), [](const Look& look) { return look.is_quiet; }));
}

// The line through the middle of some looks: ns by firings.
struct Line {
  double ns = 0, firings = 0, slope = 0;  // its middle
  double at(double some) const { return ns + slope * (some - firings); }
};

Line line_through(const std::vector<Look>& looks) {
  Line line;
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

// Those that took so many times as long as all of them say.
void leave_out_interrupted(std::vector<Look>& looks) {
  const Line rough = line_through(looks);
  std::erase_if(looks, [&](const Look& look) { return look.ns > kInterrupted * rough.at(look.firings); });
}

// The same, as long as most of them say.
void leave_out_disturbed(std::vector<Look>& looks) {
  const Line rough = line_through(looks);
  std::vector<double> of_line;
  for (const Look& look : looks)
    if (rough.at(look.firings) > 0) of_line.push_back(look.ns / rough.at(look.firings));
  const double most = kDisturbed * middle(std::move(of_line)).median;
  std::erase_if(looks, [&](const Look& look) { return look.ns > most * rough.at(look.firings); });
}

double time_of_alike(const QuietTime& pieces) {
  QuietSamples samples(1);
  samples.add(pieces);
  return pieces.things() * samples.middle().median;
}

// Looks that read no buffers, or those that did.
std::vector<Look> looks_that(bool read, const std::vector<Look>& looks) {
  std::vector<Look> kind;
  std::copy_if(looks.begin(), looks.end(), std::back_inserter(kind), [&](const Look& look) { return (look.reads > 0) == read; });
  return kind;
}

}  // namespace

double time_of(std::vector<Look> looks) {
  if (looks.empty()) return 0;
  const auto all = static_cast<double>(looks.size());
  double firings = 0;
  for (const Look& look : looks) firings += look.firings;
  const double quiet = count_quiet(looks);
  const bool only_quiet = quiet >= kFewest && quiet >= kEnough * all;
  if (only_quiet) std::erase_if(looks, [](const Look& look) { return !look.is_quiet; });
  leave_out_interrupted(looks);
  if (only_quiet) leave_out_disturbed(looks);
  return all * line_through(looks).at(firings / all);
}

double time_of_replay(const std::vector<Look>& looks) {
  QuietTime firings, steps, reads;
  for (const Look& look : looks) {
    firings.add({std::max(look.ns - look.consumer, 0.0), look.is_quiet}, look.firings);
    (look.steps > 0 ? steps : reads).add({look.consumer, look.is_quiet}, look.steps > 0 ? look.steps : look.reads);
  }
  return time_of_alike(firings) + time_of_alike(steps) + time_of_alike(reads);
}

QuietLooks::QuietLooks(Handle& handle, bool is_replay) : handle_(handle), is_replay_(is_replay), seen_(read_run_clock(handle)) {}

void QuietLooks::begin_part() {
  begun_at_ = read_clock(CLOCK_THREAD_CPUTIME_ID);
  if (ended_at_ != 0) own_ns_ += static_cast<double>(begun_at_ - ended_at_);
}

QuietLooks::Part QuietLooks::end_part() {
  ended_at_ = read_clock(CLOCK_THREAD_CPUTIME_ID);
  const RunClock before = std::exchange(seen_, read_run_clock(handle_)), done = seen_ - before;
  return {static_cast<double>(ended_at_ - begun_at_) - (is_replay_ ? done.files : 0), done};
}

bool QuietLooks::look() {
  begin_part();
  bool goes_on = handle_.look();
  if (goes_on && is_replay_) goes_on = handle_.rest();
  const auto [ns, done] = end_part();
  const QuietSample taken = piece_.end(ns);
  const double speed = ns > 0 ? taken.value / ns : 1;
  as_it_was_ += ns;
  looks_.push_back({taken.value, done.firings, taken.is_quiet, done.reads, done.steps, done.consumer * speed});
  return goes_on && (is_replay_ || rest());
}

bool QuietLooks::rest() {
  const uint64_t begin = read_clock(CLOCK_MONOTONIC);
  begin_part();
  const bool goes_on = handle_.rest();
  const auto [ns, done] = end_part();
  const bool has_slept = static_cast<double>(read_clock(CLOCK_MONOTONIC) - begin) > kShortestWait / 2;
  (done.reads > 0 ? reading_rests_ : has_slept ? rests_ : short_rests_).add(piece_.end_of_rest(ns), 1);
  return goes_on;
}

double QuietLooks::ns() const {
  if (is_replay_) return time_of_replay(looks_);
  double ns = time_of(looks_that(false, looks_)) + time_of(looks_that(true, looks_));
  for (const QuietTime* rests : {&rests_, &short_rests_, &reading_rests_}) ns += rests->each() * rests->things();
  return ns;
}

double QuietLooks::taken_ns() const {
  double sum = 0;
  for (const Look& look : looks_) sum += look.ns;
  return sum;
}

double QuietLooks::quiet_share() const { return looks_.empty() ? 0 : count_quiet(looks_) / count(); }

}  // namespace dvm::runtime
