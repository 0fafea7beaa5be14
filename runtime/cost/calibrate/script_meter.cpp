// Covered by tests/runtime/scenarios/test_cost.py.

#include "runtime/cost/calibrate/script_meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "common/clock.h"
#include "dvm/runtime/handle.h"
#include "runtime/cost/predict.h"
#include "runtime/instrument/replay/replay.h"

namespace dvm::runtime {
namespace {

constexpr double kToSpread = 1.4826;

// Everything is consumed when the run is over, so the two sides are timed apart.
Status set_options(dif::Options& options) {
  for (const auto& [name, value] :
       {std::pair("quiet", ""), {"switchrate", "1h"}, {"aggrate", "1h"}, {"bufsize", "64m"}, {"bufpolicy", "fill"}})
    if (!options.set(name, value)) return Error{fmt::format("option {} cannot be set", name)};
  return {};
}

SyntheticFirings firings_of(uint64_t count) {
  SyntheticFirings firings;
  firings.count = count;
  firings.args = {1, 42, 0x1000};
  firings.execname = std::string(kExecnameBytes - 1, 'x');
  return firings;
}

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
double predicted(const dif::Program& program, const vm::Profile& profile) {
  const dif::Program* programs[] = {&program};
  PredictOptions options;
  options.probability = 0;  // the one predicate of the cases is false
  options.sizes.expected = kExecnameBytes;
  const Prediction prediction = predict(programs, profile, options);
  return prediction.probes.empty() ? 0 : prediction.probes.front().firing.expected.clocks;
}

struct Sides {
  std::vector<double> probe, consumer;
  void add(const ScriptSample& sample) { probe.push_back(sample.probe), consumer.push_back(sample.consumer); }
};

struct Found {
  double clocks, spread;
};

Found difference(const std::vector<double>& with, const std::vector<double>& without, double clock_hz) {
  const Middle a = middle(with), b = middle(without);
  const double clocks = clock_hz / 1e9;  // a ns
  return {(a.median - b.median) * clocks, kToSpread * std::hypot(a.distance, b.distance) * clocks};
}

}  // namespace

std::string with_probe(std::string text) {
  for (size_t at = 0; (at = text.find('P', at)) != std::string::npos; at += std::string_view(kCalibratedProbe).size())
    if (const bool is_probe = at + 1 < text.size() && (text[at + 1] == '{' || text[at + 1] == '/'); is_probe)
      text.replace(at, 1, kCalibratedProbe);
  return text;
}

MadeUpRun::MadeUpRun() : nowhere_(std::fopen("/dev/null", "we"), std::fclose) {}
MadeUpRun::~MadeUpRun() = default;

Result<std::unique_ptr<MadeUpRun>> MadeUpRun::make(const dif::Program& program, uint64_t firings, vm::CostPolicy cost) {
  std::unique_ptr<MadeUpRun> run(new MadeUpRun);
  if (!run->nowhere_) return Error{"failed to open /dev/null"};
  HandleConfig config;
  config.out = config.err = run->nowhere_.get();
  config.is_replay = true;
  config.cost = cost;
  if (Status set = set_options(config.options); !set) return set.error();
  run->handle_ = std::make_unique<Handle>(config);
  run->handle_->add_instrument(make_synthetic_instrument(firings_of(firings)));
  run->handle_->catalog().add({.provider = "replay", .name = "firing", .site = UprobeSite{"", 1, false, 1000}});
  if (Status enabled = run->handle_->enable(program); !enabled) return enabled.error();
  return run;
}

Result<ScriptSample> time_program(const dif::Program& program, uint64_t firings) {
  auto run = MadeUpRun::make(program, firings, vm::CostPolicy::none);
  if (!run) return run.error();
  Handle& handle = (*run)->handle();
  std::vector<Refused> refused;
  if (Status went = handle.go(refused); !went) return went.error();
  const auto count = static_cast<double>(firings);
  const uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
  while (handle.work()) {
  }
  const uint64_t fired = read_clock(CLOCK_THREAD_CPUTIME_ID);
  const Status stopped = handle.stop();
  const uint64_t end = read_clock(CLOCK_THREAD_CPUTIME_ID);
  if (!stopped) return stopped.error();
  if (handle.drops() != 0) return Error{fmt::format("{} drops", handle.drops())};
  return ScriptSample{static_cast<double>(fired - begin) / count, static_cast<double>(end - fired) / count};
}

Status measure_script(const ScriptCase& one, const CompileScript& compile, const ScriptMeterOptions& options,
                      vm::Profile& profile) {
  Result<Pair> pair = compile_pair(one, compile);
  if (!pair) return Error{fmt::format("{}: {}", one.row, pair.error().message)};
  Sides with, without;
  for (unsigned i = 0; i < options.samples; i++)
    for (const auto& [program, sides] : {std::pair(&pair->with, &with), {&pair->without, &without}}) {
      Result<ScriptSample> sample = time_program(*program, options.firings);
      if (!sample) return Error{fmt::format("{}: {}", one.row, sample.error().message)};
      sides->add(*sample);
    }
  const double clock = profile.clock_hz;
  const Found found =
      one.is_consumer ? difference(with.consumer, without.consumer, clock) : difference(with.probe, without.probe, clock);
  const double known = one.is_consumer ? 0 : predicted(pair->with, profile) - predicted(pair->without, profile);
  const double rest = std::max(found.clocks - known, 0.0);
  const vm::Price* before = profile.find(one.row);
  vm::Price price = before ? *before : vm::Price{};
  (one.bytes > 0 ? price.n : price.m) = one.bytes > 0 ? rest / one.bytes : rest;
  price.spread = std::max(price.spread, found.spread);
  profile.set(one.row, price);
  return {};
}

Status measure_replay(const CompileScript& compile, const ScriptMeterOptions& options, vm::Profile& profile) {
  Result<dif::Program> counting = compile(with_probe("P{ @ = count(); }"));
  if (!counting) return counting.error();
  Sides sides;
  for (unsigned i = 0; i < options.samples; i++) {
    Result<ScriptSample> sample = time_program(*counting, options.firings);
    if (!sample) return sample.error();
    sides.add(*sample);
  }
  profile.set("prepare/machine", {});  // not to be told from the source
  const Found whole = difference(sides.probe, {0}, profile.clock_hz);
  profile.set("source/replay/trigger", {std::max(whole.clocks - predicted(*counting, profile), 0.0), 0, whole.spread});
  return {};
}

}  // namespace dvm::runtime
