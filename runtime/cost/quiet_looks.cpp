// Covered by tests/unit/runtime/quiet_looks_test.cpp.

#include "runtime/cost/quiet_looks.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "common/clock.h"

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
  if (quiet >= kFewest && quiet >= kEnough * all) std::erase_if(looks, [](const Look& look) { return !look.is_quiet; });
  const Line rough = line_through(looks);
  std::erase_if(looks, [&](const Look& look) { return look.ns > kInterrupted * rough.at(look.firings); });
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

bool QuietLooks::look() {
  const uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
  if (looked_at_ != 0) own_ns_ += static_cast<double>(begin - looked_at_);
  const bool goes_on = handle_.look();
  looked_at_ = read_clock(CLOCK_THREAD_CPUTIME_ID);
  const RunClock before = std::exchange(seen_, read_run_clock(handle_)), done = seen_ - before;
  const double ns = static_cast<double>(looked_at_ - begin) - (is_replay_ ? done.files : 0);
  const QuietSample taken = is_replay_ ? piece_.end(ns) : piece_.end_of_rest(ns);
  const double speed = ns > 0 ? taken.value / ns : 1;
  as_it_was_ += ns;
  looks_.push_back({taken.value, done.firings, taken.is_quiet, done.reads, done.steps, done.consumer * speed});
  return goes_on;
}

double QuietLooks::ns() const {
  return is_replay_ ? time_of_replay(looks_) : time_of(looks_that(false, looks_)) + time_of(looks_that(true, looks_));
}

double QuietLooks::taken_ns() const {
  double sum = 0;
  for (const Look& look : looks_) sum += look.ns;
  return sum;
}

double QuietLooks::quiet_share() const { return looks_.empty() ? 0 : count_quiet(looks_) / count(); }

}  // namespace dvm::runtime
