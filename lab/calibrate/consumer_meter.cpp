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

void set_settled(vm::Profile& profile, Row row, const noise::Middle& clocks) {
  profile.set(row, {std::max(clocks.median, 0.0), 0, clocks.deviation()});
}

// Ticks of a stage of a whole run, and how often it was reached.
struct StageSample {
  double ticks = 0, count = 0;
  bool is_quiet = false;  // the core was, whenever the consumer read
};

Result<StageSample> sample_stage(const dif::Program& program, uint64_t firings, std::string_view stage,
                                 const char* aggsize = "4m") {
  auto run = MadeUpRun::make(program, {.firings = firings, .aggsize = aggsize});
  if (!run) return run.error();
  Handle& handle = (*run)->handle();
  noise::QuietTime time;
  bool is_quiet = true;
  time.begin();
  (*run)->fire_all([&](const RunPiece& piece) {
    const bool was_quiet = time.end(piece.consumer, 1).is_quiet;
    is_quiet = is_quiet && (was_quiet || piece.consumer == 0);
  });
  if (Status stopped = handle.stop(); !stopped) return stopped.error();
  is_quiet = time.end(0, 0).is_quiet && is_quiet;
  const Account account = handle.account();
  for (const auto& [name, tally] : account.stages)
    if (name == stage) return StageSample{static_cast<double>(tally.ticks), static_cast<double>(tally.count), is_quiet};
  return Error{"the account has no such stage"};
}

// Switching empty buffers, and each further byte of full ones.
Status measure_records(Bench& bench, vm::Profile& profile) {
  constexpr std::string_view kStage = "snapshot_records";
  const uint64_t firings = most_firings(bench);
  const Result<dif::Program> empty = bench.compile("replay:::firing { @ = count(); }"),
                             full = bench.compile("replay:::firing { trace(arg1); }");
  if (!empty || !full) return (empty ? full : empty).error();
  noise::QuietSamples once(bench.samples), each(bench.samples);
  while (once.wants_more() || each.wants_more()) {
    const auto little = sample_stage(*empty, firings, kStage), much = sample_stage(*full, firings, kStage);
    if (!little || !much) return (little ? much : little).error();
    const double first = little->ticks / std::max(little->count, 1.0);
    once.add({first, little->is_quiet});
    each.add({(much->ticks - first * much->count) / static_cast<double>(firings) / kTracedBytes, much->is_quiet});
  }
  set_settled(profile, "consumer/buffer_snapshot"_row, bench.book.settle("buffer_snapshot", once));
  profile.set("consumer/copy"_row, {0, std::max(bench.book.settle("copy", each).median, 0.0), 0});
  return {};
}

// Reading an aggregation buffer with few keys, and one with many: the cost besides keys.
Status measure_aggregation_snapshot(Bench& bench, vm::Profile& profile) {
  constexpr std::string_view kStage = "snapshot_aggregations";
  const Result<dif::Program> program = bench.compile("replay:::firing { @[rand()] = count(); }");
  if (!program) return program.error();
  noise::QuietSamples once(bench.samples);
  while (once.wants_more()) {
    const auto large = sample_stage(*program, most_firings(bench), kStage),
               small = sample_stage(*program, most_firings(bench), kStage, "4k");
    if (!large || !small) return (large ? small : large).error();
    once.add({(small->ticks - large->ticks) / std::max(small->count - large->count, 1.0), small->is_quiet && large->is_quiet});
  }
  set_settled(profile, "consumer/aggregation_snapshot"_row, bench.book.settle("aggregation_snapshot", once));
  return {};
}

// Reads of a run of so many firings by some thousand keys each, in a poll or two.
Result<noise::QuietTime> time_reads_of_keys(const dif::Program& program, uint64_t firings) {
  auto run = MadeUpRun::make(program, {.firings = firings, .aggsize = kReadAtOnce});
  if (!run) return run.error();
  noise::QuietTime time, reads;
  double since = 0;  // firings, since the last read
  time.begin();
  (*run)->fire_all([&](const RunPiece& piece) {
    const noise::QuietSample taken = time.end(piece.consumer, 1);
    since += piece.events;
    if (piece.consumer > 0) reads.add(taken, different(kMostKeys, std::exchange(since, 0)));
    if (!time.starts_quietly()) time.begin();
  });
  if (Status stopped = (*run)->handle().stop(); !stopped) return stopped.error();
  return reads;
}

// Merging keys into as many others, in random order.
Status measure_keys(Bench& bench, vm::Profile& profile) {
  const Result<dif::Program> program =
      bench.compile(fmt::format("replay:::firing {{ @[rand() % {:.0f}] = count(); }}", kMostKeys));
  if (!program) return program.error();
  noise::QuietSamples each(bench.samples);
  while (each.wants_more()) {
    const Result<noise::QuietTime> reads = time_reads_of_keys(*program, 2 * static_cast<uint64_t>(kMostKeys));
    if (!reads) return reads.error();
    each.add(*reads);
  }
  const double key = bench.book.settle("aggregation_build", each).median * clocks_of_ns(profile);
  profile.set("consumer/aggregation_build"_row, {0, std::max(key, 0.0), 0});
  return {};
}

// Asking for the drops.
Status measure_status(Bench& bench, vm::Profile& profile) {
  constexpr unsigned kTimes = 1000;
  const Result<dif::Program> program = bench.compile("replay:::firing { @ = count(); }");
  if (!program) return program.error();
  auto run = MadeUpRun::make(*program, {.firings = most_firings(bench)});
  if (!run) return run.error();
  noise::QuietSamples samples(bench.samples);
  while (samples.wants_more()) {
    noise::QuietPiece piece(noise::wait_for_quiet_core());
    const uint64_t begin = vm::read_ticks();
    for (unsigned n = 0; n < kTimes; n++) (void)(*run)->handle().drops();
    samples.add(piece.end(static_cast<double>(vm::read_ticks() - begin) / kTimes));
  }
  set_settled(profile, "consumer/status_snapshot"_row, bench.book.settle("status_snapshot", samples));
  return {};
}

// Half of sleeping and being woken.
Status measure_wake_up(Bench& bench, vm::Profile& profile) {
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
  set_settled(profile, "consumer/context_switch"_row, noise::times(all, clocks_of_ns(profile) / 2));
  return {};
}

Status measure_heading(Bench& bench, vm::Profile& profile) {
  TimedScript headed{"P{ trace(arg1); }", {.firings = most_firings(bench), .is_quiet = false}, true}, quiet = headed;
  quiet.settings.is_quiet = true;
  const auto timed = time_scripts(bench, "heading", std::array{headed, quiet}, bench.samples);
  if (!timed) return timed.error();
  profile.set("consumer/heading"_row, times(difference((*timed)[0], (*timed)[1]), clocks_of_ns(profile)));
  return {};
}

std::vector<Row> consumer_rows() {
  return {"consumer/status_snapshot"_row,      "consumer/buffer_snapshot"_row,   "consumer/copy"_row,
          "consumer/aggregation_snapshot"_row, "consumer/aggregation_build"_row, "consumer/heading"_row,
          "consumer/context_switch"_row};
}

Status measure_consumer(Bench& bench, std::optional<Row>, vm::Profile& profile) {
  for (const auto measure :
       {measure_records, measure_aggregation_snapshot, measure_keys, measure_wake_up, measure_heading, measure_status})
    if (Status measured = measure(bench, profile); !measured) return measured;
  return {};
}

}  // namespace

extern const Meter kConsumerMeter = {"consumer", "", consumer_rows, measure_consumer};

}  // namespace dvm::lab
