// The consumer's steps but printing, which is measured as actions are: the stages of runs that leave nothing, many records or
// many keys. Covered by tests/runtime/scenarios/test_calibrate.py.

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <utility>

#include "common/clock.h"
#include "lab/calibrate/script_meter.h"
#include "lab/noise/quiet_time.h"
#include "runtime/cost/table_uses.h"

namespace dvm::lab {

using namespace runtime;
namespace {

uint64_t most_firings(const Bench& bench) { return std::min(bench.firings, kMostRecords); }  // each may leave a key

// Ticks of a stage of a whole run, and how often it was reached.
struct StageSample {
  double ticks = 0, count = 0;
  bool is_quiet = false;  // the core was, whenever the consumer read
};

StageSample sample_stage(const dif::Program& program, uint64_t firings, std::string_view stage, const char* aggsize = "4m") {
  MadeUpRun run(program, {.firings = firings, .aggsize = aggsize});
  Handle& handle = run.handle();
  noise::QuietTime time;
  bool is_quiet = true;
  time.begin();
  run.fire_all([&](const RunClock& done, double) {
    const bool was_quiet = time.end(done.consumer, 1).is_quiet;
    is_quiet = is_quiet && (was_quiet || done.consumer == 0);
  });
  or_throw(handle.stop());
  is_quiet = time.end(0, 0).is_quiet && is_quiet;
  const Account account = handle.account();
  for (const auto& [name, tally] : account.stages)
    if (name == stage) return {static_cast<double>(tally.ticks), static_cast<double>(tally.count), is_quiet};
  throw Error{"the account has no such stage"};
}

// Switching empty buffers, and each further byte of full ones.
void measure_records(Bench& bench, vm::Profile& profile) {
  constexpr std::string_view kStage = "snapshot_records";
  const uint64_t firings = most_firings(bench);
  const dif::Program empty = or_throw(bench.compile("replay:::firing { @ = count(); }")),
                     full = or_throw(bench.compile("replay:::firing { trace(arg1); }"));
  noise::QuietSamples once(bench.samples), each(bench.samples);
  while (once.wants_more() || each.wants_more()) {
    const StageSample little = sample_stage(empty, firings, kStage), much = sample_stage(full, firings, kStage);
    const double first = little.ticks / std::max(little.count, 1.0);
    once.add({first, little.is_quiet});
    each.add({(much.ticks - first * much.count) / static_cast<double>(firings) / kTracedBytes, much.is_quiet});
  }
  profile.set("consumer/buffer_snapshot"_row, difference(bench.book.settle("buffer_snapshot", once)));
  profile.set("consumer/copy"_row, {0, std::max(bench.book.settle("copy", each).median, 0.0), 0});
}

// Reading an aggregation buffer with few keys, and one with many: the cost besides keys.
void measure_aggregation_snapshot(Bench& bench, vm::Profile& profile) {
  constexpr std::string_view kStage = "snapshot_aggregations";
  const dif::Program program = or_throw(bench.compile("replay:::firing { @[rand()] = count(); }"));
  noise::QuietSamples once(bench.samples);
  while (once.wants_more()) {
    const StageSample large = sample_stage(program, most_firings(bench), kStage),
                      small = sample_stage(program, most_firings(bench), kStage, "4k");
    once.add({(small.ticks - large.ticks) / std::max(small.count - large.count, 1.0), small.is_quiet && large.is_quiet});
  }
  profile.set("consumer/aggregation_snapshot"_row, difference(bench.book.settle("aggregation_snapshot", once)));
}

// Reads of a run of so many firings by some thousand keys each, in a poll or two.
noise::QuietTime time_reads_of_keys(const dif::Program& program, uint64_t firings) {
  MadeUpRun run(program, {.firings = firings, .aggsize = kReadAtOnce});
  noise::QuietTime time, reads;
  double since = 0;  // firings, since the last read
  time.begin();
  run.fire_all([&](const RunClock& done, double) {
    const noise::QuietSample taken = time.end(done.consumer, 1);
    since += done.firings;
    if (done.consumer > 0) reads.add(taken, different(kMostKeys, std::exchange(since, 0)));
    if (!time.starts_quietly()) time.begin();
  });
  or_throw(run.handle().stop());
  return reads;
}

// Merging keys into as many others, in random order.
void measure_keys(Bench& bench, vm::Profile& profile) {
  const dif::Program program =
      or_throw(bench.compile(fmt::format("replay:::firing {{ @[rand() % {:.0f}] = count(); }}", kMostKeys)));
  noise::QuietSamples each(bench.samples);
  while (each.wants_more()) each.add(time_reads_of_keys(program, 2 * static_cast<uint64_t>(kMostKeys)));
  const double key = bench.book.settle("aggregation_build", each).median * clocks_of_ns(profile);
  profile.set("consumer/aggregation_build"_row, {0, std::max(key, 0.0), 0});
}

// Asking for the drops.
void measure_status(Bench& bench, vm::Profile& profile) {
  constexpr unsigned kTimes = 1000;
  MadeUpRun run(or_throw(bench.compile("replay:::firing { @ = count(); }")), {.firings = most_firings(bench)});
  noise::QuietSamples samples(bench.samples);
  while (samples.wants_more()) {
    noise::QuietPiece piece(noise::wait_for_quiet_core());
    const uint64_t begin = vm::read_ticks();
    for (unsigned n = 0; n < kTimes; n++) (void)run.handle().drops();
    samples.add(piece.end(static_cast<double>(vm::read_ticks() - begin) / kTimes));
  }
  profile.set("consumer/status_snapshot"_row, difference(bench.book.settle("status_snapshot", samples)));
}

// Half of sleeping and being woken.
void measure_wake_up(Bench& bench, vm::Profile& profile) {
  constexpr unsigned kTimes = 200;
  std::vector<double> samples;
  for (unsigned i = 0; i < bench.samples; i++) {
    noise::QuietTime time;
    for (unsigned n = 0; n < kTimes; n++) {
      time.begin();
      const uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
      const timespec interval{0, 100'000};
      ppoll(nullptr, 0, &interval, nullptr);
      time.end(static_cast<double>(read_clock(CLOCK_THREAD_CPUTIME_ID) - begin), 1);
    }
    samples.push_back(time.each());
  }
  const noise::Middle all = bench.book.settle_middle("context_switch", noise::quiet_middle(samples));
  profile.set("consumer/context_switch"_row, difference(noise::times(all, clocks_of_ns(profile) / 2)));
}

void measure_heading(Bench& bench, vm::Profile& profile) {
  TimedScript headed{"P{ trace(arg1); }", {.firings = most_firings(bench), .is_quiet = false}, true}, quiet = headed;
  quiet.settings.is_quiet = true;
  const auto timed = time_scripts(bench, "heading", std::array{headed, quiet}, bench.samples);
  profile.set("consumer/heading"_row, times(difference(timed[0], timed[1]), clocks_of_ns(profile)));
}

std::vector<Row> consumer_rows() {
  return {"consumer/status_snapshot"_row,      "consumer/buffer_snapshot"_row,   "consumer/copy"_row,
          "consumer/aggregation_snapshot"_row, "consumer/aggregation_build"_row, "consumer/heading"_row,
          "consumer/context_switch"_row};
}

void measure_consumer(Bench& bench, std::optional<Row>, vm::Profile& profile) {
  for (const auto measure :
       {measure_records, measure_aggregation_snapshot, measure_keys, measure_wake_up, measure_heading, measure_status})
    measure(bench, profile);
}

}  // namespace

extern const Meter kConsumerMeter = {"consumer", "", consumer_rows, measure_consumer, {}, true};

}  // namespace dvm::lab
