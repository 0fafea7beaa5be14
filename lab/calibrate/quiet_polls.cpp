// Covered by tests/runtime/scenarios/test_calibrate.py.

#include "lab/calibrate/quiet_polls.h"

#include "common/clock.h"
#include "runtime/cost/profile_file.h"
#include "runtime/instrument/pace.h"

namespace dvm::lab {

using namespace runtime;

void measure_as(const vm::Profile& profile) {
  noise::give_times_at(profile.core_speed);
  if (profile.made_on.cpu == this_machine("").cpu) noise::expect_readings({profile.quiet_core.near, profile.quiet_core.far});
}

RunClock read_run_clock(Handle& handle) {
  static const double rate = tick_rate(20'000'000) / 1e9;
  const Account account = handle.account(false);  // what has to be added up for clauses would be in the caches then
  RunClock clock;
  clock.firings = static_cast<double>(account.events);
  clock.files = static_cast<double>(account.reading_ns + account.writing_ns);
  for (const auto& [step, tally] : account.consumer) clock.steps += static_cast<double>(tally.count);
  for (const auto& [stage, tally] : account.stages) {
    const bool is_print = stage == "print";
    if (!is_print && !stage.starts_with("snapshot_")) continue;
    (is_print ? clock.prints : clock.reads) += static_cast<double>(tally.count);
    clock.consumer += static_cast<double>(tally.ticks) / rate;
  }
  return clock;
}

RunClock operator-(const RunClock& now, const RunClock& before) {
  return {now.firings - before.firings, now.reads - before.reads,       now.steps - before.steps,
          now.prints - before.prints,   now.consumer - before.consumer, now.files - before.files};
}

QuietPolls::QuietPolls(Handle& handle, bool is_replay) : handle_(handle), is_replay_(is_replay), seen_(read_run_clock(handle)) {}

void QuietPolls::begin_part() {
  begun_at_ = read_clock(CLOCK_THREAD_CPUTIME_ID);
  if (ended_at_ != 0) own_ns_ += static_cast<double>(begun_at_ - ended_at_);
}

std::pair<double, RunClock> QuietPolls::end_part() {
  ended_at_ = read_clock(CLOCK_THREAD_CPUTIME_ID);
  const RunClock before = std::exchange(seen_, read_run_clock(handle_)), done = seen_ - before;
  return {static_cast<double>(ended_at_ - begun_at_) - (is_replay_ ? done.files : 0), done};
}

bool QuietPolls::poll() {
  begin_part();
  bool goes_on = handle_.poll();
  if (goes_on && is_replay_) goes_on = handle_.wait();
  const auto [ns, done] = end_part();
  const noise::QuietSample taken = piece_.end(ns);
  const double speed = ns > 0 ? taken.value / ns : 1;
  as_it_was_ += ns, taken_ns_ += taken.value;
  polls_.push_back({taken.value, done.firings, taken.is_quiet, done.reads, done.steps, done.consumer * speed});
  return goes_on && (is_replay_ || wait());
}

bool QuietPolls::wait() {
  const uint64_t begin = read_clock(CLOCK_MONOTONIC);
  begin_part();
  const bool goes_on = handle_.wait();
  const auto [ns, done] = end_part();
  const bool has_slept = static_cast<double>(read_clock(CLOCK_MONOTONIC) - begin) > kShortestWait / 2;
  (done.reads > 0 ? reading_sleeps_ : has_slept ? sleeps_ : short_sleeps_).add(piece_.end_of_sleep(ns), 1);
  return goes_on;
}

double QuietPolls::ns() const {
  if (is_replay_) return noise::time_of_replay(polls_);
  double ns = noise::time_of(polls_);
  for (const noise::QuietTime* sleeps : {&sleeps_, &short_sleeps_, &reading_sleeps_}) ns += sleeps->each() * sleeps->things();
  return ns;
}

double QuietPolls::quiet_share() const { return polls_.empty() ? 0 : noise::count_quiet(polls_) / count(); }

}  // namespace dvm::lab
