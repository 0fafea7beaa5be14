// Covered by tests/runtime/scenarios/test_cost.py.

#include "lab/calibrate/script_meter.h"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/cost/predict.h"

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

// Rows without a price count as nothing.
Result<double> predicted(const ScriptCase& one, const std::string& text, const Bench& bench, const vm::Profile& profile) {
  const Result<dif::Program> program = bench.compile(with_probe(text));
  if (!program) return program.error();
  return one.is_consumer ? predicted_print(*program, profile) : predicted_firing(*program, profile);
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
