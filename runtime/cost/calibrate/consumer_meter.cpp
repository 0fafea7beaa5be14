// Covered by tests/runtime/scenarios/test_cost.py.

#include "runtime/cost/calibrate/consumer_meter.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "common/clock.h"
#include "dvm/runtime/handle.h"
#include "runtime/cost/calibrate/looping_child.h"
#include "runtime/cost/calibrate/middle.h"
#include "runtime/cost/consumer.h"
#include "runtime/cost/quiet_looks.h"
#include "runtime/cost/quiet_time.h"
#include "runtime/instrument/live.h"
#include "runtime/provider/providers.h"
#include "runtime/session/pace.h"

namespace dvm::runtime {
namespace {

constexpr double kRecordBytes = 24;  // of a trace() of an integer, its head included

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
  QuietTime time;
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
  QuietSamples once(options.samples), each(options.samples);
  while (once.wants_more() || each.wants_more()) {
    const auto little = sample_stage(*empty, options.firings, kStage), much = sample_stage(*full, options.firings, kStage);
    if (!little) return little.error();
    if (!much) return much.error();
    const double first = little->ticks / std::max(little->count, 1.0);
    once.add({first, little->is_quiet});
    each.add({(much->ticks - first * much->count) / static_cast<double>(options.firings) / kRecordBytes, much->is_quiet});
  }
  const Middle first = settle(options.book, "buffer_snapshot", once), byte = settle(options.book, "copy", each);
  profile.set("consumer/buffer_snapshot", {first.median, 0, first.deviation()});
  profile.set("consumer/copy", {0, std::max(byte.median, 0.0), 0});
  return {};
}

// The same keys, each another, read in large pieces and in small ones.
Status measure_keys(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile) {
  constexpr std::string_view kStage = "snapshot_aggregations";
  const Result<dif::Program> program = compile("replay:::firing { @[rand()] = count(); }");
  if (!program) return program.error();
  QuietSamples once(options.samples), each(options.samples);
  while (once.wants_more() || each.wants_more()) {
    const auto large = sample_stage(*program, options.firings, kStage);
    const auto small = sample_stage(*program, options.firings, kStage, "4k");
    if (!large) return large.error();
    if (!small) return small.error();
    const double first = (small->ticks - large->ticks) / std::max(small->count - large->count, 1.0);
    once.add({first, small->is_quiet && large->is_quiet});
    each.add({(large->ticks - first * large->count) / static_cast<double>(options.firings), large->is_quiet});
  }
  const Middle first = settle(options.book, "aggregation_snapshot", once), key = settle(options.book, "aggregation_build", each);
  profile.set("consumer/aggregation_snapshot", {std::max(first.median, 0.0), 0, first.deviation()});
  profile.set("consumer/aggregation_build", {0, std::max(key.median, 0.0), 0});
  return {};
}

Status measure_status(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile) {
  constexpr unsigned kTimes = 1000;
  const Result<dif::Program> program = compile("replay:::firing { @ = count(); }");
  if (!program) return program.error();
  auto run = MadeUpRun::make(*program, {.firings = options.firings});
  if (!run) return run.error();
  QuietSamples samples(options.samples);
  while (samples.wants_more()) {
    QuietPiece piece(wait_for_quiet_core());
    const uint64_t begin = vm::read_ticks();
    for (unsigned n = 0; n < kTimes; n++) (void)(*run)->handle().drops();
    samples.add(piece.end(static_cast<double>(vm::read_ticks() - begin) / kTimes));
  }
  const Middle all = settle(options.book, "status_snapshot", samples);
  profile.set("consumer/status_snapshot", {all.median, 0, all.deviation()});
  return {};
}

void measure_wake_up(const ScriptMeterOptions& options, vm::Profile& profile) {
  constexpr unsigned kTimes = 200;
  std::vector<double> samples;
  for (unsigned i = 0; i < options.samples; i++) {
    QuietTime time;
    for (unsigned n = 0; n < kTimes; n++) {
      time.begin();
      const uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
      const timespec interval{0, 100'000};
      ppoll(nullptr, 0, &interval, nullptr);
      time.end(static_cast<double>(read_clock(CLOCK_THREAD_CPUTIME_ID) - begin), 1);
    }
    samples.push_back(time.each());
  }
  const Middle all = times(settle_middle(options.book, "context_switch", quiet_middle(samples)), profile.clock_hz / 1e9 / 2);
  profile.set("consumer/context_switch", {all.median, 0, all.deviation()});
}

// CPU time of dvm for a look, and how late it is, in ns, while it looks for what never fires. It does so as often as it can where
// a clause is destructive.
struct Looking {
  QuietSample look;
  double late = 0;  // ns
};
Result<Looking> time_looking(const CompileScript& compile, LoopingChild& other) {
  constexpr uint64_t kBursts = 80, kCalls = 50;  // a burst of calls in each millisecond
  const Result<dif::Program> program = compile("syscall::reboot:entry { system(\"true\"); }");
  if (!program) return program.error();
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> nowhere(std::fopen("/dev/null", "we"), std::fclose);
  HandleConfig config;
  config.out = config.err = nowhere.get();
  if (Status set = set_options(config.options, {{"quiet", ""}, {"destructive", ""}, {"switchrate", "1h"}, {"aggrate", "1h"}});
      !set)
    return set.error();
  Handle handle(config);
  for (auto& provider : make_providers()) handle.add_provider(std::move(provider));
  for (auto& instrument : make_live_instruments(config.options)) handle.add_instrument(std::move(instrument));
  handle.discover(program->clauses.front().probes.front());
  if (Status enabled = handle.enable(*program); !enabled) return enabled.error();
  std::vector<Refused> refused;
  if (Status went = handle.go(refused); !went) return went.error();
  QuietLooks looks(handle);
  const uint64_t begin = read_clock(CLOCK_MONOTONIC);
  if (Status called = other.call({.stub = Stub::signal, .times = kBursts * kCalls, .rests = true}); !called)
    return called.error();
  while (!other.is_done() && looks.look()) {
  }
  if (const auto done = other.finish(); !done) return done.error();
  constexpr double kQuiet = 0.2;  // of the looks, as of the samples of a live row
  const double passed = static_cast<double>(read_clock(CLOCK_MONOTONIC) - begin), count = std::max(looks.count(), 1.0);
  const double late = std::max(passed / count - static_cast<double>(kBusyWait), 0.0);
  return Looking{{looks.ns() / count, looks.quiet_share() >= kQuiet}, late};
}

// Beside a program that works and rests by turns, and was told so by dvm, as one that is traced is: what it takes to wake up,
// which is most of a look, depends on who else wakes up on that CPU, and the kernel keeps those together that wake each other.
// Where nothing can be traced a look is two switches of threads.
void measure_look(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile) {
  constexpr unsigned kRuns = 8;  // a sample
  QuietSamples samples(kRuns * options.samples);
  std::vector<double> looks, late;
  const auto other = LoopingChild::start();
  while (samples.wants_more()) {
    const Result<Looking> taken = other ? time_looking(compile, **other) : other.error();
    if (!taken) return profile.set("consumer/look", times(*profile.find("consumer/context_switch"), 2));
    samples.add(taken->look), looks.push_back(taken->look.value), late.push_back(taken->late);
  }
  const Middle found{samples.middle().median, middle(looks).distance};
  const Middle all = times(settle_middle(options.book, "look", found), profile.clock_hz / 1e9);
  profile.set("consumer/look", {all.median, 0, all.deviation()});
  const Middle of_late = times(settle_middle(options.book, "late", middle(late)), profile.clock_hz / 1e9);
  profile.set("consumer/late", {of_late.median, 0, of_late.deviation()});
}

Status measure_heading(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile) {
  const Result<dif::Program> program = compile("replay:::firing { trace(arg1); }");
  if (!program) return program.error();
  QuietSamples quiet(options.samples), headed(options.samples);
  while (quiet.wants_more() || headed.wants_more())
    for (const auto& [is_quiet, samples] : {std::pair(true, &quiet), {false, &headed}}) {
      const Result<ScriptSample> sample =
          time_program(*program, {.firings = options.firings, .bufsize = kReadAtOnce, .is_quiet = is_quiet});
      if (!sample) return sample.error();
      samples->add(sample->consumer);
    }
  const Middle of_headed = settle(options.book, "heading", headed), of_quiet = settle(options.book, "heading quiet", quiet);
  profile.set("consumer/heading", times(difference(of_headed, of_quiet), profile.clock_hz / 1e9));
  return {};
}

}  // namespace

std::vector<std::string> consumer_rows() {
  return {"consumer/status_snapshot",
          "consumer/buffer_snapshot",
          "consumer/copy",
          "consumer/look",
          "consumer/late",
          "consumer/aggregation_snapshot",
          "consumer/aggregation_build",
          "consumer/heading",
          "consumer/context_switch"};
}

Status measure_consumer(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile) {
  if (Status measured = measure_records(compile, options, profile); !measured) return measured;
  if (Status measured = measure_keys(compile, options, profile); !measured) return measured;
  measure_wake_up(options, profile);
  measure_look(compile, options, profile);
  if (Status measured = measure_heading(compile, options, profile); !measured) return measured;
  return measure_status(compile, options, profile);
}

}  // namespace dvm::runtime
