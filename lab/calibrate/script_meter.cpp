// Covered by tests/runtime/scenarios/test_calibrate.py.

#include "lab/calibrate/script_meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "runtime/cost/predict.h"

namespace dvm::lab {

using namespace runtime;

std::string with_probe(std::string text) {
  const std::string probe = kCalibratedProbe;
  return replaced(replaced(std::move(text), "P{", probe + "{"), "P/", probe + "/");
}

std::vector<noise::Middle> time_scripts(Bench& bench, const std::string& series, std::span<const TimedScript> scripts,
                                        unsigned samples) {
  struct Timed {
    std::string series;
    dif::Program program;
    noise::QuietSamples taken;
  };
  std::vector<Timed> all;
  for (const TimedScript& script : scripts) {
    dif::Program program = or_throw(bench.compile(with_probe(script.text)));
    const std::string name = fmt::format("{} {}", series, all.size());
    all.push_back({name, std::move(program), bench.book.samples_of(name, samples)});
  }
  while (std::any_of(all.begin(), all.end(), [](const Timed& one) { return one.taken.wants_more(); }))
    for (size_t i = 0; i < all.size(); i++) {
      if (!all[i].taken.wants_more()) continue;
      const ScriptSample sample = time_program(all[i].program, scripts[i].settings);
      all[i].taken.add(scripts[i].is_consumer ? sample.consumer : sample.probe);
    }
  std::vector<noise::Middle> settled;
  for (const Timed& one : all) settled.push_back(bench.book.settle(one.series, one.taken));
  return settled;
}

double predicted_firing(const dif::Program& program, const vm::Profile& profile, const Execution& execution, double event_bytes) {
  PredictOptions options;
  options.execution = execution;
  options.probability = 0;  // the one predicate of the cases is false
  options.sizes.expected = kExecnameBytes;
  options.event_bytes = event_bytes;
  const Prediction prediction = predict(program, profile, options);
  return prediction.probes.empty() ? 0 : prediction.probes.front().firing.expected.clocks;
}

namespace {

// What the model says of a firing or, if is_consumer, of processing and printing its records. Rows without a price cost nothing.
double predicted(const ScriptCase& one, const std::string& text, const Bench& bench, const vm::Profile& profile) {
  const dif::Program program = or_throw(bench.compile(with_probe(text)));
  if (!one.is_consumer) return predicted_firing(program, profile, bench.execution);
  PredictOptions options;
  options.sizes.expected = kExecnameBytes;
  options.wake_ups = 0;
  options.keys = kPrintedKeys;
  options.rates[kCalibratedProbe] = 1;
  return predict(program, profile, options).consumer.clocks;
}

RunSettings settings_of(const ScriptCase& one, const Bench& bench) {
  RunSettings settings{.firings = std::min(bench.firings, one.most_firings), .memory = one.memory, .frames = one.frames};
  settings.engine = bench.execution.engine;
  settings.is_read = one.is_read, settings.may_act = one.may_act;
  if (one.is_consumer)
    settings.firings = std::min(settings.firings, kMostRecords);
  else if (!one.is_read)
    settings.bufsize = kNotRead;
  return settings;
}

void measure_script(const ScriptCase& one, Bench& bench, vm::Profile& profile) {
  const RunSettings settings = settings_of(one, bench);
  const TimedScript scripts[] = {{one.with, settings, one.is_consumer}, {one.without, settings, one.is_consumer}};
  const auto timed = time_scripts(bench, fmt::format("{}{} {}", series_of(bench), one.row.name(), one.bytes), scripts,
                                  std::max(bench.samples, one.least_samples));
  const vm::RowName row = one.row.in(bench.execution);
  const vm::Price found = times(difference(timed[0], timed[1]), clocks_of_ns(profile));
  vm::Price price = profile.find(row) ? *profile.find(row) : vm::Price{};
  double& part = one.bytes > 0 ? price.n : price.m;
  part = 0;
  if (one.exists == false) price.n = 0;
  profile.set(row, price);
  const double known = predicted(one, one.with, bench, profile) - predicted(one, one.without, bench, profile);
  const double least = one.exists == true ? -price.m : 0;
  part = std::max((found.m - known) / one.uses / (one.bytes > 0 ? one.bytes : 1), least);
  price.spread = std::max(price.spread, found.spread / one.uses);
  // chill(0) costs what it takes beyond its argument, whose nanoseconds are waited in any case.
  if (one.row == "action/chill"_row) price.n = clocks_of_ns(profile);
  profile.set(row, price);
}

void measure_scripts(Bench& bench, std::optional<Row> only, vm::Profile& profile) {
  const std::vector<ScriptCase> cases = script_cases(bench.execution.engine);
  for (size_t i = 0; i < cases.size(); i++) {
    bench.progress(i, cases.size());
    if (only && cases[i].row != *only) continue;
    if (Status measured = caught([&] { measure_script(cases[i], bench, profile); }); !measured)
      throw Error{fmt::format("{}: {}", cases[i].row.name(), measured.error().message)};
  }
}

}  // namespace

extern const Meter kScriptMeter = {"actions", "", [] { return rows_of(script_cases()); }, measure_scripts, {}, true};
extern const Meter kNativeScriptMeter = {"actions on engine llvm",
                                         "actions on engine llvm were",
                                         [] { return rows_of(script_cases(EngineId::llvm)); },
                                         measure_scripts,
                                         EngineId::llvm,
                                         true};

}  // namespace dvm::lab
