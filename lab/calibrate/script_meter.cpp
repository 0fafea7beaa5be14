// Covered by tests/runtime/scenarios/test_cost.py.

#include "lab/calibrate/script_meter.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <memory>

#include "common/clock.h"
#include "dvm/runtime/handle.h"
#include "lab/calibrate/made_up_recording.h"
#include "lab/calibrate/meter.h"
#include "lab/noise/quiet_time.h"
#include "lab/price_of.h"
#include "lab/run_clock.h"
#include "runtime/cost/machine.h"
#include "runtime/cost/predict.h"
#include "runtime/instrument/pace.h"
#include "runtime/instrument/replay/replay.h"
#include "runtime/provider/providers.h"

namespace dvm::runtime {
namespace {

struct Pair {
  dif::Program with, without;
};

Result<Pair> compile_pair(const ScriptCase& one, const CompileScript& compile) {
  Result<dif::Program> with = compile(with_probe(one.with)), without = compile(with_probe(one.without));
  if (!with) return with.error();
  if (!without) return without.error();
  return Pair{*std::move(with), *std::move(without)};
}

// What the model says of a firing, as far as the profile goes: rows without a price are nothing.
double predicted(const dif::Program& program, const vm::Profile& profile, double event_bytes = 0) {
  const dif::Program* programs[] = {&program};
  PredictOptions options;
  options.probability = 0;  // the one predicate of the cases is false
  options.sizes.expected = kExecnameBytes;
  options.event_bytes = event_bytes;
  const Prediction prediction = predict(programs, profile, options);
  return prediction.probes.empty() ? 0 : prediction.probes.front().firing.expected.clocks;
}

// What the model says of chewing and printing a firing's records.
double predicted_print(const dif::Program& program, const vm::Profile& profile) {
  const dif::Program* programs[] = {&program};
  PredictOptions options;
  options.sizes.expected = kExecnameBytes;
  options.wake_ups = 0;
  options.keys = kPrintedKeys;
  options.rates[kCalibratedProbe] = 1;
  return predict(programs, profile, options).consumer.clocks;
}

struct Sides {
  Sides(const noise::SeriesBook* book, const std::string& series, unsigned samples)
      : probe(noise::samples_of(book, series, samples)), consumer(probe) {}
  void add(const ScriptSample& sample) { probe.add(sample.probe), consumer.add(sample.consumer); }
  noise::QuietSamples probe, consumer;
};

}  // namespace

std::string with_probe(std::string text) {
  const std::string_view probe = kCalibratedProbe;
  for (size_t at = 0; (at = text.find_first_of("{/", at + 1)) != std::string::npos;)
    if (text[at - 1] == 'P') text.replace(at - 1, 1, probe), at += probe.size() - 1;
  return text;
}

Status set_options(dif::Options& options, std::initializer_list<std::pair<const char*, const char*>> settings) {
  for (const auto& [name, value] : settings)
    if (!options.set(name, value)) return Error{fmt::format("option {} cannot be set", name)};
  return {};
}

namespace {

// Memory that a run has given back is used again by the next one, and is not new to the processor, as the buffers of a long run
// are not.
void keep_memory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
}

}  // namespace

MadeUpRun::MadeUpRun(std::shared_ptr<const MadeUpRecording> recording, uint64_t firings)
    : recording_(std::move(recording)), firings_(firings), nowhere_(std::fopen("/dev/null", "we"), std::fclose) {}
MadeUpRun::~MadeUpRun() = default;

Result<std::unique_ptr<MadeUpRun>> MadeUpRun::make(const dif::Program& program, const RunSettings& settings) {
  auto recording = MadeUpRecording::of(settings.firings, settings.memory, settings.frames);
  if (!recording) return recording.error();
  auto reader = (*recording)->read();
  if (!reader) return reader.error();
  std::unique_ptr<MadeUpRun> run(new MadeUpRun(std::move(*recording), settings.firings));
  if (!run->nowhere_) return Error{"failed to open /dev/null"};
  keep_memory();
  HandleConfig config;
  config.is_timed = false;
  config.out = config.err = run->nowhere_.get();
  config.is_replay = true;
  config.symbols = (*reader)->symbols();
  config.cost = settings.cost;
  const auto set = set_options(config.options, {{"quiet", settings.is_quiet ? "on" : "off"},
                                                {"destructive", settings.may_act ? "on" : "off"},
                                                {"switchrate", "1h"},
                                                {"aggrate", "1h"},
                                                {"bufsize", settings.bufsize},
                                                {"aggsize", settings.aggsize}});
  if (!set) return set.error();
  run->handle_ = std::make_unique<Handle>(config);
  make_dtrace_provider()->discover({}, run->handle_->catalog());
  if (Status added = (*reader)->add_probes(run->handle_->catalog()); !added) return added.error();
  run->handle_->catalog().add({.provider = "replay", .name = "never", .site = UprobeSite{"", 2, false, 1000}});
  run->handle_->add_instrument(make_replay_instrument(std::move(*reader)));
  if (Status enabled = run->handle_->enable(program); !enabled) return enabled.error();
  const std::vector<EnabledProbe> probes = run->handle_->enabled();
  const auto is_made_up = [](const EnabledProbe& one) { return one.probe->provider == "replay"; };
  if (std::none_of(probes.begin(), probes.end(), is_made_up))
    return Error{fmt::format("it has no clause for the probe {}", kCalibratedProbe)};
  std::vector<Refused> refused;
  if (Status went = run->handle_->go(refused); !went) return went.error();
  return run;
}

void MadeUpRun::fire_all(const std::function<void(const RunPiece&)>& told, const std::function<void(uint64_t)>& before) {
  RunClock last = read_run_clock(*handle_);
  uint64_t left = firings_;
  for (bool goes_on = true; goes_on;) {
    if (before) before(left);
    const uint64_t events = std::min(left, kReplayBatch), begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
    left -= events;
    goes_on = handle_->look() && handle_->rest();
    const auto taken = static_cast<double>(read_clock(CLOCK_THREAD_CPUTIME_ID) - begin);
    const RunClock now = read_run_clock(*handle_), done = now - last;
    if (told) told({static_cast<double>(events), done.prints, taken - done.consumer - done.files, done.consumer});
    last = now;
  }
}

namespace {

// A run, and what it took.
class TimedRun {
 public:
  explicit TimedRun(const RunSettings& settings) : settings_(settings) {}
  Result<ScriptSample> sample(const dif::Program& program);

 private:
  void fire(MadeUpRun& run);
  void fire_rested(MadeUpRun& run);
  Status read(Handle& handle);

  // A firing, of all that the consumer did: reads of buffers that were half full, and the end.
  noise::QuietTime consumer() const;

  const RunSettings& settings_;
  noise::QuietTime probe_, reads_;
  noise::QuietSample end_;
};

void TimedRun::fire(MadeUpRun& run) {
  if (settings_.rested > 0) return fire_rested(run);
  probe_.begin();
  const auto told = [&](const RunPiece& piece) {
    const noise::QuietSample taken = probe_.end(piece.probe, piece.events);
    const double speed = piece.probe > 0 ? taken.value / piece.probe : 1;
    reads_.add({piece.consumer * speed, taken.is_quiet}, piece.reads);
    if (!probe_.starts_quietly()) probe_.begin();
  };
  run.fire_all(told);
}

void TimedRun::fire_rested(MadeUpRun& run) {
  bool has_rested = false;
  const auto rest = [&](uint64_t left) {
    has_rested = left > 0 && left <= settings_.rested * kReplayBatch;
    if (!has_rested) return;
    const timespec time{0, static_cast<long>(kLongestWait)};
    nanosleep(&time, nullptr);
    probe_.begin();
  };
  const auto told = [&](const RunPiece& piece) {
    if (has_rested) probe_.end(piece.probe, piece.events);
  };
  run.fire_all(told, rest);
}

// What is left, at the end.
Status TimedRun::read(Handle& handle) {
  noise::QuietPiece piece(noise::wait_for_quiet_core());
  const uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
  Status stopped = settings_.is_read ? handle.stop() : Status();
  end_ = piece.end(static_cast<double>(read_clock(CLOCK_THREAD_CPUTIME_ID) - begin));
  return stopped;
}

noise::QuietTime TimedRun::consumer() const {
  const auto firings = static_cast<double>(settings_.firings);
  noise::QuietTime all;
  const double reads = reads_.things();
  for (const noise::QuietSample& read : reads_.pieces()) all.add({read.value * reads + end_.value, read.is_quiet}, firings);
  if (reads == 0) all.add(end_, firings);
  return all;
}

Result<ScriptSample> TimedRun::sample(const dif::Program& program) {
  auto run = MadeUpRun::make(program, settings_);
  if (!run) return run.error();
  noise::wait_for_quiet_core();
  fire(**run);
  if (Status stopped = read((*run)->handle()); !stopped) return stopped.error();
  if ((*run)->handle().drops() != 0) return Error{fmt::format("{} drops", (*run)->handle().drops())};
  return ScriptSample{std::move(probe_), consumer(), (*run)->recording().event_bytes()};
}

}  // namespace

Result<ScriptSample> time_program(const dif::Program& program, const RunSettings& settings) {
  return TimedRun(settings).sample(program);
}

namespace {

RunSettings settings_of(const ScriptCase& one, const ScriptMeterOptions& options) {
  RunSettings settings{.firings = std::min(options.firings, one.most_firings), .memory = one.memory, .frames = one.frames};
  settings.is_read = options.is_read, settings.may_act = options.may_act;
  if (one.is_consumer)
    settings.firings = std::min(settings.firings, kMostRecords);
  else if (!settings.is_read)
    settings.bufsize = kNotRead;
  return settings;
}

}  // namespace

Status measure_script(const ScriptCase& one, const CompileScript& compile, const ScriptMeterOptions& options,
                      vm::Profile& profile) {
  Result<Pair> pair = compile_pair(one, compile);
  if (!pair) return Error{fmt::format("{}: {}", one.row.name(), pair.error().message)};
  const std::string series = fmt::format("{} {}", one.row.name(), one.bytes), of_with = series + " with",
                    of_without = series + " without";
  Sides with(options.book, of_with, options.samples), without(options.book, of_without, options.samples);
  const RunSettings settings = settings_of(one, options);
  const auto wants_more = [&](const Sides& sides) { return (one.is_consumer ? sides.consumer : sides.probe).wants_more(); };
  while (wants_more(with) || wants_more(without))
    for (const auto& [program, sides] : {std::pair(&pair->with, &with), {&pair->without, &without}}) {
      if (!wants_more(*sides)) continue;
      Result<ScriptSample> sample = time_program(*program, settings);
      if (!sample) return Error{fmt::format("{}: {}", one.row.name(), sample.error().message)};
      sides->add(*sample);
    }
  const auto settled = [&](const std::string& side, const Sides& sides) {
    return noise::settle(options.book, side, one.is_consumer ? sides.consumer : sides.probe);
  };
  const vm::Price found = times(difference(settled(of_with, with), settled(of_without, without)), profile.clock_hz / 1e9);
  const auto says = [&](const dif::Program& program) {
    return one.is_consumer ? predicted_print(program, profile) : predicted(program, profile);
  };
  vm::Price price = profile.find(one.row) ? *profile.find(one.row) : vm::Price{};
  (one.bytes > 0 ? price.n : price.m) = 0;
  profile.set(one.row, price);
  const double known = says(pair->with) - says(pair->without);
  const double rest = std::max(found.m - known, 0.0) / one.uses;
  (one.bytes > 0 ? price.n : price.m) = one.bytes > 0 ? rest / one.bytes : rest;
  price.spread = std::max(price.spread, found.spread / one.uses);
  profile.set(one.row, price);
  return {};
}

namespace {

// So many times as many samples as of other scripts: every script pays for what these say.
constexpr unsigned kTimesMore = 10;

// CPU time of the probe side a firing, in clocks.
struct ReplaySample {
  noise::Middle clocks;
  double bytes = 0;
};

Result<ReplaySample> sample_replay(const char* script, unsigned memory, const CompileScript& compile,
                                   const ScriptMeterOptions& options, const vm::Profile& profile) {
  Result<dif::Program> program = compile(script);
  if (!program) return program.error();
  const std::string series = fmt::format("{} {}", script, memory);
  Sides sides(options.book, series, options.samples * kTimesMore);
  const auto recording = MadeUpRecording::of(options.firings, memory, 0);
  if (!recording) return recording.error();
  ReplaySample result{{}, (*recording)->event_bytes()};
  while (sides.probe.wants_more()) {
    Result<ScriptSample> sample = time_program(*program, {.firings = options.firings, .memory = memory});
    if (!sample) return sample.error();
    sides.add(*sample);
  }
  result.clocks = times(noise::settle(options.book, series, sides.probe), profile.clock_hz / 1e9);
  return result;
}

// Events that nobody wants are read, by their bytes; what one of them takes more that is counted is the way to its ECB.
Status measure_replay(const Bench& bench, std::optional<Row>, vm::Profile& profile) {
  const CompileScript& compile = bench.compile;
  const ScriptMeterOptions& options = bench.scripts;
  constexpr unsigned kFew = 1, kMany = 200;  // letters in the piece of memory of an event, if it has one
  const auto sample = [&](const char* script, unsigned memory) {
    return sample_replay(script, memory, compile, options, profile);
  };
  constexpr const char* kUnwanted = "replay:::never { @ = count(); }";
  const auto without = sample(kUnwanted, 0), small = sample(kUnwanted, kFew), large = sample(kUnwanted, kMany);
  const auto counted = sample("replay:::firing { @ = count(); }", 0);
  for (const auto* one : {&without, &small, &large, &counted})
    if (!*one) return one->error();
  const double n = difference(large->clocks, small->clocks).m / (large->bytes - small->bytes);
  const vm::Price piece = difference(small->clocks, without->clocks);
  profile.set("capture/recorded"_row, {std::max(piece.m - n * (small->bytes - without->bytes), 0.0), 0, piece.spread});
  profile.set("prepare/machine"_row, {});  // not to be told from the source
  profile.set("source/replay/trigger"_row,
              {std::max(without->clocks.median - n * without->bytes, 0.0), n, without->clocks.deviation()});
  Result<dif::Program> program = compile("replay:::firing { @ = count(); }");
  if (!program) return program.error();
  profile.set("source/replay/handler"_row, {});
  const double known = predicted(*program, profile, without->bytes);
  profile.set("source/replay/handler"_row, {std::max(counted->clocks.median - known, 0.0), 0, counted->clocks.deviation()});
  return {};
}

std::vector<Row> replay_rows() {
  return {"capture/recorded"_row, "prepare/machine"_row, "source/replay/trigger"_row, "source/replay/handler"_row};
}

// A row that is priced by size has two cases.
std::vector<Row> script_rows() {
  std::vector<Row> rows;
  for (const ScriptCase& one : script_cases())
    if (std::find(rows.begin(), rows.end(), one.row) == rows.end()) rows.push_back(one.row);
  return rows;
}

Status measure_scripts(const Bench& bench, std::optional<Row> only, vm::Profile& profile) {
  const std::vector<ScriptCase> cases = script_cases();
  for (size_t i = 0; i < cases.size(); i++) {
    bench.progress(i, cases.size());
    if (only && cases[i].row != *only) continue;
    if (Status measured = measure_script(cases[i], bench.compile, bench.scripts, profile); !measured) return measured;
  }
  return {};
}

}  // namespace

const Meter kScriptMeter = {"actions", "", script_rows, measure_scripts};
const Meter kReplayMeter = {"replay", "", replay_rows, measure_replay};

}  // namespace dvm::lab
