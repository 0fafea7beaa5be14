// Covered by tests/unit/runtime/quiet_looks_test.cpp.

#include "runtime/cost/quiet_looks.h"

#include <algorithm>
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

double time_of_alike(const std::vector<Look>& looks) {
  QuietTime pieces;
  for (const Look& look : looks) pieces.add({look.ns, look.is_quiet}, look.firings);
  QuietSamples samples(1);
  samples.add(pieces);
  return pieces.things() * samples.middle().median;
}

QuietLooks::QuietLooks(Handle& handle, bool is_replay) : handle_(handle), is_replay_(is_replay), seen_(see()) {}

QuietLooks::Seen QuietLooks::see() const {
  const Account account = handle_.account();
  Seen seen{account.events, 0, is_replay_ ? account.reading_ns + account.writing_ns : 0};
  for (const auto& [stage, tally] : account.stages)
    if (stage.starts_with("snapshot_")) seen.consumed += tally.count;
  return seen;
}

bool QuietLooks::look() {
  const uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
  if (looked_at_ != 0) own_ns_ += static_cast<double>(begin - looked_at_);
  const bool goes_on = handle_.look();
  looked_at_ = read_clock(CLOCK_THREAD_CPUTIME_ID);
  const Seen before = std::exchange(seen_, see());
  const double ns = static_cast<double>(looked_at_ - begin) - static_cast<double>(seen_.files - before.files);
  const QuietSample taken = is_replay_ ? piece_.end(ns) : piece_.end_of_rest(ns);
  as_it_was_ += ns;
  auto& looks = seen_.consumed > before.consumed ? consuming_ : plain_;
  looks.push_back({taken.value, static_cast<double>(seen_.firings - before.firings), taken.is_quiet});
  return goes_on;
}

double QuietLooks::taken_ns() const {
  double sum = 0;
  for (const auto* looks : {&plain_, &consuming_})
    for (const Look& look : *looks) sum += look.ns;
  return sum;
}

double QuietLooks::quiet_share() const {
  const auto all = static_cast<double>(plain_.size() + consuming_.size());
  return all > 0 ? (count_quiet(plain_) + count_quiet(consuming_)) / all : 0;
}

}  // namespace dvm::runtime
