// What the consumer's steps cost but printing, which is measured as actions are: the stages of runs that leave nothing, many
// records or many keys.
//
//   status_snapshot                  asking for the drops
//   buffer_snapshot, copy            switching buffers: empty ones; a byte more
//   aggregation_snapshot, ..._build  taking one key; each further one
//   context_switch                   half of what it takes to sleep and to be woken
//   look, look_shared, late          waking up to look for firings
//
// Covered by tests/runtime/scenarios/test_cost.py.

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "common/clock.h"
#include "dvm/runtime/handle.h"
#include "lab/calibrate/live_run.h"
#include "lab/calibrate/meter.h"
#include "lab/calibrate/script_meter.h"
#include "lab/noise/apart.h"
#include "lab/noise/quiet_time.h"
#include "lab/price_of.h"
#include "runtime/cost/consumer.h"
#include "runtime/cost/tables.h"

namespace {

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

// Reading what is empty, and what is full.
Status measure_records(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile) {
  constexpr std::string_view kStage = "snapshot_records";
  const Result<dif::Program> empty = compile("replay:::firing { @ = count(); }"),
                             full = compile("replay:::firing { trace(arg1); }");
  if (!empty) return empty.error();
  if (!full) return full.error();
  noise::QuietSamples once(options.samples), each(options.samples);
  while (once.wants_more() || each.wants_more()) {
    const auto little = sample_stage(*empty, options.firings, kStage), much = sample_stage(*full, options.firings, kStage);
    if (!little) return little.error();
    if (!much) return much.error();
    const double first = little->ticks / std::max(little->count, 1.0);
    once.add({first, little->is_quiet});
    each.add({(much->ticks - first * much->count) / static_cast<double>(options.firings) / kTracedBytes, much->is_quiet});
  }
  const noise::Middle first = noise::settle(options.book, "buffer_snapshot", once),
                      byte = noise::settle(options.book, "copy", each);
  profile.set("consumer/buffer_snapshot"_row, {first.median, 0, first.deviation()});
  profile.set("consumer/copy"_row, {0, std::max(byte.median, 0.0), 0});
  return {};
}

// Reading an aggregation buffer with few keys in it, and one with many: what it takes besides its keys.
Status measure_aggregation_snapshot(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile) {
  constexpr std::string_view kStage = "snapshot_aggregations";
  const Result<dif::Program> program = compile("replay:::firing { @[rand()] = count(); }");
  if (!program) return program.error();
  noise::QuietSamples once(options.samples);
  while (once.wants_more()) {
    const auto large = sample_stage(*program, options.firings, kStage);
    const auto small = sample_stage(*program, options.firings, kStage, "4k");
    if (!large) return large.error();
    if (!small) return small.error();
    once.add({(small->ticks - large->ticks) / std::max(small->count - large->count, 1.0), small->is_quiet && large->is_quiet});
  }
  const noise::Middle first = noise::settle(options.book, "aggregation_snapshot", once);
  profile.set("consumer/aggregation_snapshot"_row, {std::max(first.median, 0.0), 0, first.deviation()});
  return {};
}

// Reads of a run of so many firings by some thousand keys each, in a look or two.
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

// Merging keys into as many others, in no order.
Status measure_keys(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile) {
  const Result<dif::Program> program = compile(fmt::format("replay:::firing {{ @[rand() % {:.0f}] = count(); }}", kMostKeys));
  if (!program) return program.error();
  noise::QuietSamples each(options.samples);
  while (each.wants_more()) {
    const Result<noise::QuietTime> reads = time_reads_of_keys(*program, 2 * static_cast<uint64_t>(kMostKeys));
    if (!reads) return reads.error();
    each.add(*reads);
  }
  const noise::Middle key = times(noise::settle(options.book, "aggregation_build", each), profile.clock_hz / 1e9);
  profile.set("consumer/aggregation_build"_row, {0, std::max(key.median, 0.0), 0});
  return {};
}

Status measure_status(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile) {
  constexpr unsigned kTimes = 1000;
  const Result<dif::Program> program = compile("replay:::firing { @ = count(); }");
  if (!program) return program.error();
  auto run = MadeUpRun::make(*program, {.firings = options.firings});
  if (!run) return run.error();
  noise::QuietSamples samples(options.samples);
  while (samples.wants_more()) {
    noise::QuietPiece piece(noise::wait_for_quiet_core());
    const uint64_t begin = vm::read_ticks();
    for (unsigned n = 0; n < kTimes; n++) (void)(*run)->handle().drops();
    samples.add(piece.end(static_cast<double>(vm::read_ticks() - begin) / kTimes));
  }
  const noise::Middle all = noise::settle(options.book, "status_snapshot", samples);
  profile.set("consumer/status_snapshot"_row, {all.median, 0, all.deviation()});
  return {};
}

void measure_wake_up(const ScriptMeterOptions& options, vm::Profile& profile) {
  constexpr unsigned kTimes = 200;
  std::vector<double> samples;
  for (unsigned i = 0; i < options.samples; i++) {
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

Status measure_heading(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile) {
  const Result<dif::Program> program = compile("replay:::firing { trace(arg1); }");
  if (!program) return program.error();
  noise::QuietSamples quiet(options.samples), headed(options.samples);
  while (quiet.wants_more() || headed.wants_more())
    for (const auto& [is_quiet, samples] : {std::pair(true, &quiet), {false, &headed}}) {
      const Result<ScriptSample> sample = time_program(*program, {.firings = options.firings, .is_quiet = is_quiet});
      if (!sample) return sample.error();
      samples->add(sample->consumer);
    }
  const noise::Middle of_headed = noise::settle(options.book, "heading", headed),
                      of_quiet = noise::settle(options.book, "heading quiet", quiet);
  profile.set("consumer/heading"_row, times(difference(of_headed, of_quiet), profile.clock_hz / 1e9));
  return {};
}

std::vector<Row> consumer_rows() {
  return {"consumer/status_snapshot"_row,      "consumer/buffer_snapshot"_row,   "consumer/copy"_row,
          "consumer/aggregation_snapshot"_row, "consumer/aggregation_build"_row, "consumer/heading"_row,
          "consumer/context_switch"_row};
}

// Where nothing can be traced a look is two switches of threads.
Status measure_looks(const Bench& bench, std::optional<Row>, vm::Profile& profile) {
  if (sample_looks(bench.compile, bench.scripts, profile)) return {};
  if (profile.find("consumer/context_switch"_row) == nullptr) measure_wake_up(bench.scripts, profile);
  for (const Row row : {"consumer/look"_row, "consumer/look_shared"_row})
    profile.set(row, times(*profile.find("consumer/context_switch"_row), 2));
  return {};
}

Status measure_consumer(const Bench& bench, std::optional<Row>, vm::Profile& profile) {
  ScriptMeterOptions options = bench.scripts;
  options.firings = std::min(options.firings, kMostRecords);  // each of them leaves a key
  const CompileScript& compile = bench.compile;
  if (Status measured = measure_records(compile, options, profile); !measured) return measured;
  if (Status measured = measure_aggregation_snapshot(compile, options, profile); !measured) return measured;
  if (Status measured = measure_keys(compile, options, profile); !measured) return measured;
  measure_wake_up(options, profile);
  if (Status measured = measure_heading(compile, options, profile); !measured) return measured;
  return measure_status(compile, options, profile);
}

}  // namespace

const Meter kConsumerMeter = {"consumer", "", consumer_rows, measure_consumer};
const Meter kLookMeter = {"looks", "", look_rows, measure_looks};

}  // namespace dvm::lab
