// Covered by tests/unit/runtime/calibrate_test.cpp.

#include "runtime/cost/quiet_time.h"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

#include "common/clock.h"
#include "runtime/cost/core_speed.h"

namespace dvm::runtime {
namespace {

constexpr double kInterrupted = 3;     // times as long as the middle one
constexpr double kEnough = 0.02;       // of all things
constexpr size_t kMostTries = 2;       // for a quiet sample
constexpr uint64_t kStay = 3'000'000;  // ns, on a core that is not quiet
constexpr uint64_t kLongestWait = 100'000'000, kLeastPatience = 1'000'000'000;
constexpr uint64_t kPatience = 10;  // of its time a process waits a tenth

// To another core, where somebody else is the neighbour. The thread may run on all that it could before.
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

// Of this process and of those that it forks.
std::atomic<uint64_t>* shared_counter() {
  void* page = mmap(nullptr, sizeof(std::atomic<uint64_t>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  static std::atomic<uint64_t> own = 0;
  return page == MAP_FAILED ? &own : new (page) std::atomic<uint64_t>(0);
}

dvm_core wait_until(uint64_t until, bool may_move) {
  for (uint64_t now = read_clock(CLOCK_MONOTONIC); now < until; now = read_clock(CLOCK_MONOTONIC)) {
    const uint64_t stays_until = std::min(until, now + kStay);
    while (read_clock(CLOCK_MONOTONIC) < stays_until)
      if (const dvm_core core = look_at_core(); core.is_quiet) return core;
    if (may_move) change_core();
  }
  return look_at_core();
}

}  // namespace

dvm_core look_at_core() {
  static thread_local dvm_gauge gauge = DVM_NEW_GAUGE;
  return dvm_look_at_core(&gauge);
}

dvm_core wait_for_quiet_core(bool may_move) {
  static const uint64_t first = read_clock(CLOCK_MONOTONIC);
  static std::atomic<uint64_t>& waited = *shared_counter();
  if (const dvm_core core = look_at_core(); core.is_quiet) return core;
  const uint64_t begin = read_clock(CLOCK_MONOTONIC), most = kLeastPatience + (begin - first) / kPatience;
  const dvm_core core = wait_until(begin + std::min(kLongestWait, most - std::min(waited.load(), most)), may_move);
  waited += read_clock(CLOCK_MONOTONIC) - begin;
  return core;
}

QuietSample QuietPiece::end(double taken) {
  const dvm_core after = look_at_core(), before = std::exchange(before_, after);
  return {dvm_at_speed(taken, before, after, speed_of_times()), dvm_are_quiet(before, after) != 0};
}

void QuietTime::begin() { piece_ = QuietPiece(wait_for_quiet_core(false)); }

QuietSample QuietTime::end(double ns, double things) {
  const QuietSample taken = piece_.end(ns);
  add(taken, things);
  return taken;
}

void QuietTime::add(const QuietSample& ns, double things) {
  if (things <= 0) return;
  all_.push_back({ns.value, things});
  if (ns.is_quiet) quiet_.push_back({ns.value, things});
}

const std::vector<QuietTime::Piece>& QuietTime::counting() const { return quiet_share() >= kEnough ? quiet_ : all_; }

double QuietTime::usual() const {
  std::vector<double> each;
  for (const Piece& piece : counting()) each.push_back(piece.each());
  if (each.empty()) return 0;
  const auto middle = each.begin() + static_cast<std::ptrdiff_t>(each.size() / 2);
  std::nth_element(each.begin(), middle, each.end());
  return *middle;
}

double QuietTime::each() const {
  std::vector<Piece> pieces = counting();
  const double most = kInterrupted * usual();
  std::erase_if(pieces, [&](const Piece& piece) { return piece.each() > most; });
  const Piece sum = sum_of(pieces);
  return sum.things > 0 ? sum.ns / sum.things : 0;
}

double QuietTime::quiet_share() const {
  const double all = sum_of(all_).things;
  return all > 0 ? sum_of(quiet_).things / all : 0;
}

bool QuietSamples::wants_more() const { return quiet_.size() < wanted_ && all_.size() < kMostTries * wanted_; }

void QuietSamples::add(const QuietSample& sample) {
  all_.push_back(sample.value);
  if (sample.is_quiet) quiet_.push_back(sample.value);
}

const std::vector<double>& QuietSamples::values() const { return is_quiet() ? quiet_ : all_; }

QuietTime::Piece QuietTime::sum_of(const std::vector<Piece>& pieces) {
  Piece sum;
  for (const Piece& piece : pieces) sum.ns += piece.ns, sum.things += piece.things;
  return sum;
}

}  // namespace dvm::runtime
