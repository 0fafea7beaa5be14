// Covered by tests/unit/lab/noise_test.cpp.

#include "lab/noise/quiet_time.h"

#include <sched.h>
#include <sys/mman.h>

#include <atomic>
#include <cmath>
#include <cstdint>
#include <new>
#include <numeric>
#include <utility>

#include "common/clock.h"

namespace dvm::lab::noise {
namespace {

constexpr double kInterrupted = 3;                       // times as long as the middle one
constexpr double kEnough = 0.02;                         // of all things
constexpr size_t kFewestPieces = 4, kEnoughPieces = 12;  // that are quiet
constexpr size_t kOfPieces = 20;                         // and one of so many
constexpr size_t kManySamples = 10;                      // of which a fifth says something
constexpr uint64_t kStay = 3'000'000;                    // ns, on a core that is not quiet
constexpr uint64_t kLongestWait = 20'000'000, kLeastPatience = 1'000'000'000;
constexpr uint64_t kPatience = 2;  // of its time a process waits half

// Moves to another core, which has another neighbour. The thread may still run on all of its CPUs.
void change_core() {
  cpu_set_t allowed, one;
  const int here = sched_getcpu();
  if (here < 0 || sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  int next = here;
  do next = (next + 1) % CPU_SETSIZE;
  while (!CPU_ISSET(next, &allowed) && next != here);
  CPU_ZERO(&one);
  CPU_SET(next, &one);
  sched_setaffinity(0, sizeof one, &one);
  sched_setaffinity(0, sizeof allowed, &allowed);
}

// Shared with forked processes.
std::atomic<uint64_t>* shared_counter() {
  void* page = mmap(nullptr, sizeof(std::atomic<uint64_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  static std::atomic<uint64_t> own = 0;
  return page == MAP_FAILED ? &own : new (page) std::atomic<uint64_t>(0);
}

CoreState wait_until(uint64_t until, bool may_move) {
  for (uint64_t now = read_clock(CLOCK_MONOTONIC); now < until; now = read_clock(CLOCK_MONOTONIC)) {
    const uint64_t stays_until = std::min(until, now + kStay);
    while (read_clock(CLOCK_MONOTONIC) < stays_until)
      if (const CoreState core = core_state(); core.is_quiet) return core;
    if (may_move) change_core();
  }
  return core_state();
}

// The median of the quickest fifth, with its error. At most half as many as were quiet count: a core that is quiet before and
// after a sample may have been disturbed between.
Middle quickest(std::vector<double> all, size_t quiet) {
  std::sort(all.begin(), all.end());
  const size_t fifth = (all.size() + 4) / 5, half = (quiet + 1) / 2;
  all.resize(quiet > 0 ? std::min(fifth, half) : fifth);
  const auto count = static_cast<double>(std::max<size_t>(all.size(), 1));
  Middle found = middle(std::move(all));
  found.distance /= std::sqrt(count);
  return found;
}

QuietReadings expected;
std::atomic<double> speed_of_all_times = 0;

// A neighbour is rarely busy all the time.
CoreGauge first_gauge() {
  constexpr uint64_t kLearning = 200'000'000;  // ticks
  CoreGauge gauge{{{{.least = expected.near}, {.least = expected.far}}}};
  if (expected.near > 0 && expected.far > 0) return gauge;
  gauge = {};
  const uint64_t begin = ordered_ticks();
  do gauge.state();
  while (ordered_ticks() - begin < kLearning);
  return gauge;
}

// That of the calling thread. Each starts with the readings that the first one expects, or has found in a tenth of a second.
CoreGauge& own_gauge() {
  static const CoreGauge learnt = first_gauge();
  static thread_local CoreGauge gauge = learnt;
  return gauge;
}

}  // namespace

void expect_readings(const QuietReadings& known) { expected = known; }

QuietReadings quiet_core() {
  const CoreGauge& gauge = own_gauge();
  return {gauge.of[0].least, gauge.of[1].least};
}

CoreState core_state() { return own_gauge().state(); }

CoreState wait_for_quiet_core(bool may_move) {
  static const uint64_t first = read_clock(CLOCK_MONOTONIC);
  static std::atomic<uint64_t>& waited = *shared_counter();
  if (const CoreState core = core_state(); core.is_quiet) return core;
  const uint64_t begin = read_clock(CLOCK_MONOTONIC), most = kLeastPatience + (begin - first) / kPatience;
  const CoreState core = wait_until(begin + std::min(kLongestWait, most - std::min(waited.load(), most)), may_move);
  waited += read_clock(CLOCK_MONOTONIC) - begin;
  return core;
}

QuietSample QuietPiece::end_of_sleep(double taken) {
  const CoreState after = core_state(), before = std::exchange(before_, after);
  if (const double speed = speed_of_times(); speed > 0) taken *= (before.speed + after.speed) / 2 / speed;
  return {taken, after.is_quiet};
}

QuietSample QuietPiece::end(double taken) {
  const bool began_quietly = starts_quietly();
  const QuietSample ended = end_of_sleep(taken);
  return {ended.value, began_quietly && ended.is_quiet};
}

void QuietTime::begin(bool may_move) { piece_ = QuietPiece(wait_for_quiet_core(may_move)); }

QuietSample QuietTime::end(double ns, double things) {
  const QuietSample taken = piece_.end(ns);
  add(taken, things);
  return taken;
}

void QuietTime::add(const QuietSample& ns, double things) {
  if (things > 0) pieces_.push_back({{ns.value / things, ns.is_quiet}, things});
}

std::vector<double> QuietTime::values(bool only_quiet) const {
  std::vector<double> values;
  for (const Piece& piece : pieces_)
    if (piece.is_quiet || !only_quiet) values.push_back(piece.value);
  return values;
}

double QuietTime::usual() const {
  std::vector<double> quiet = values(true);
  return quiet.size() >= kFewestPieces ? middle(std::move(quiet)).median : quickest(values(false), 0).median;
}

double QuietTime::each() const {
  const bool only_quiet = quiet_share() >= kEnough;
  const double most = kInterrupted * middle(values(only_quiet)).median;
  double ns = 0, things = 0;
  for (const Piece& piece : pieces_)
    if ((piece.is_quiet || !only_quiet) && piece.value <= most) ns += piece.value * piece.things, things += piece.things;
  return things > 0 ? ns / things : 0;
}

double QuietTime::quiet_share() const {
  double quiet = 0;
  for (const Piece& piece : pieces_) quiet += piece.is_quiet ? piece.things : 0;
  const double all = things();
  return all > 0 ? quiet / all : 0;
}

double QuietTime::things() const {
  return std::accumulate(pieces_.begin(), pieces_.end(), 0.0, [](double sum, const Piece& piece) { return sum + piece.things; });
}

bool QuietSamples::is_quiet() const {
  return quiet_.size() >= (has_pieces_ ? std::max(kFewestPieces, all_.size() / kOfPieces) : (wanted_ + 2) / 3);
}

bool QuietSamples::wants_more() const {
  const size_t enough = has_pieces_ ? kEnoughPieces : wanted_;
  return samples_ < wanted_ || (quiet_.size() < enough && samples_ < tries_ * wanted_);
}

void QuietSamples::keep(const QuietSample& value) {
  all_.push_back(value.value);
  if (value.is_quiet) quiet_.push_back(value.value);
}

void QuietSamples::add(const QuietSample& sample) { keep(sample), samples_++; }

void QuietSamples::add(const QuietTime& sample) {
  for (const QuietSample& piece : sample.pieces()) keep(piece);
  samples_++, has_pieces_ = true;
}

Middle QuietSamples::middle() const {
  const bool quiet = is_quiet();
  Middle found = all_.size() < kManySamples ? quiet_middle(quiet ? quiet_ : all_) : quickest(all_, quiet ? quiet_.size() : 0);
  if (!quiet) found.distance = std::max(found.distance, kTooLong * found.median);  // the samples do not show by how much
  return found;
}

Middle QuietSamples::plain_middle() const { return noise::middle(is_quiet() ? quiet_ : all_); }

void give_times_at(double core_speed) { speed_of_all_times = core_speed; }
double speed_of_times() { return speed_of_all_times; }

double core_speed_over(unsigned long ns) {
  std::vector<double> speeds;
  const uint64_t end = read_clock(CLOCK_MONOTONIC) + ns;
  do speeds.push_back(read_core().speed);
  while (read_clock(CLOCK_MONOTONIC) < end);
  return middle(std::move(speeds)).median;
}

}  // namespace dvm::lab::noise
