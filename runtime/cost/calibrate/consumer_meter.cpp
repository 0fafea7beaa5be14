// Covered by tests/runtime/scenarios/test_cost.py.

#include "runtime/cost/calibrate/consumer_meter.h"

#include <poll.h>

#include <algorithm>

#include "common/clock.h"
#include "dvm/runtime/handle.h"
#include "runtime/cost/calibrate/middle.h"

namespace dvm::runtime {
namespace {

constexpr double kRecordBytes = 24;  // of a trace() of an integer, its head included

// Ticks of a stage of a whole run, and how often it was reached.
struct StageSample {
  double ticks = 0, count = 0;
};

Result<StageSample> sample_stage(const dif::Program& program, uint64_t firings, std::string_view stage) {
  auto run = MadeUpRun::make(program, firings, vm::CostPolicy::blocks);
  if (!run) return run.error();
  Handle& handle = (*run)->handle();
  (*run)->fire_all();
  if (Status stopped = handle.stop(); !stopped) return stopped.error();
  const Account account = handle.account();
  for (const auto& [name, tally] : account.stages)
    if (name == stage) return StageSample{static_cast<double>(tally.ticks), static_cast<double>(tally.count)};
  return Error{"the account has no such stage"};
}

struct StageCase {
  const char *stage, *empty, *full;  // scripts: of which the stage has nothing to do, and much
  double things = 1;                 // of each firing in the full one
  const char *once, *each;           // rows
};

constexpr StageCase kStageCases[] = {
    {"snapshot_records", "replay:::firing { @ = count(); }", "replay:::firing { trace(arg1); }", kRecordBytes,
     "consumer/buffer_snapshot", "consumer/copy"},
    {"snapshot_aggregations", "replay:::firing { @ = count(); }", "replay:::firing { @[timestamp] = count(); }", 1,
     "consumer/aggregation_snapshot", "consumer/aggregation_build"},
};

Status measure(const StageCase& one, const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile) {
  constexpr uint64_t kMostFirings = 10'000;  // whose keys fit in an aggregation buffer
  const uint64_t firings = std::min(options.firings, kMostFirings);
  const Result<dif::Program> empty = compile(one.empty), full = compile(one.full);
  if (!empty) return empty.error();
  if (!full) return full.error();
  std::vector<double> once, each;
  for (unsigned i = 0; i < options.samples; i++) {
    const Result<StageSample> little = sample_stage(*empty, firings, one.stage), much = sample_stage(*full, firings, one.stage);
    if (!little) return little.error();
    if (!much) return much.error();
    once.push_back(little->ticks / std::max(little->count, 1.0));
    each.push_back((much->ticks - once.back() * much->count) / static_cast<double>(firings) / one.things);
  }
  const Middle first = middle(once), further = middle(each);
  profile.set(one.once, {first.median, 0, first.deviation()});
  profile.set(one.each, {0, std::max(further.median, 0.0), 0});
  return {};
}

Status measure_status(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile) {
  constexpr unsigned kTimes = 1000;
  const Result<dif::Program> program = compile("replay:::firing { @ = count(); }");
  if (!program) return program.error();
  auto run = MadeUpRun::make(*program, options.firings, vm::CostPolicy::none);
  if (!run) return run.error();
  std::vector<double> samples;
  for (unsigned i = 0; i < options.samples; i++) {
    const uint64_t begin = vm::read_ticks();
    for (unsigned n = 0; n < kTimes; n++) (void)(*run)->handle().drops();
    samples.push_back(static_cast<double>(vm::read_ticks() - begin) / kTimes);
  }
  const Middle all = middle(samples);
  profile.set("consumer/status_snapshot", {all.median, 0, all.deviation()});
  return {};
}

void measure_wake_up(const ScriptMeterOptions& options, vm::Profile& profile) {
  constexpr unsigned kTimes = 50;
  std::vector<double> samples;
  for (unsigned i = 0; i < options.samples; i++) {
    const uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
    for (unsigned n = 0; n < kTimes; n++) {
      const timespec time{0, 100'000};
      ppoll(nullptr, 0, &time, nullptr);
    }
    samples.push_back(static_cast<double>(read_clock(CLOCK_THREAD_CPUTIME_ID) - begin) / kTimes);
  }
  const Middle all = times(middle(samples), profile.clock_hz / 1e9 / 2);
  profile.set("consumer/context_switch", {all.median, 0, all.deviation()});
}

}  // namespace

std::vector<std::string> consumer_rows() {
  std::vector<std::string> rows = {"consumer/status_snapshot", "consumer/context_switch"};
  for (const StageCase& one : kStageCases) rows.emplace_back(one.once), rows.emplace_back(one.each);
  return rows;
}

Status measure_consumer(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile) {
  for (const StageCase& one : kStageCases)
    if (Status measured = measure(one, compile, options, profile); !measured) return measured;
  measure_wake_up(options, profile);
  return measure_status(compile, options, profile);
}

}  // namespace dvm::runtime
