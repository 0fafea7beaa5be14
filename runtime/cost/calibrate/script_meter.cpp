// Covered by tests/runtime/scenarios/test_cost.py.

#include "runtime/cost/calibrate/script_meter.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "common/clock.h"
#include "dvm/runtime/handle.h"
#include "runtime/cost/calibrate/middle.h"
#include "runtime/cost/predict.h"
#include "runtime/instrument/replay/replay.h"

namespace dvm::runtime {
namespace {

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

MadeUpRun::MadeUpRun() : nowhere_(std::fopen("/dev/null", "we"), std::fclose) {}
MadeUpRun::~MadeUpRun() = default;

Result<std::unique_ptr<MadeUpRun>> MadeUpRun::make(const dif::Program& program, uint64_t firings, vm::CostPolicy cost) {
  std::unique_ptr<MadeUpRun> run(new MadeUpRun);
  if (!run->nowhere_) return Error{"failed to open /dev/null"};
  HandleConfig config;
  config.out = config.err = run->nowhere_.get();
  config.is_replay = true;
  config.cost = cost;
  // Everything is consumed when the run is over, so the two sides are timed apart.
  const auto set = set_options(
      config.options, {{"quiet", ""}, {"switchrate", "1h"}, {"aggrate", "1h"}, {"bufsize", "64m"}, {"bufpolicy", "fill"}});
  if (!set) return set.error();
  run->handle_ = std::make_unique<Handle>(config);
  run->handle_->add_instrument(make_synthetic_instrument(firings_of(firings)));
  run->handle_->catalog().add({.provider = "replay", .name = "firing", .site = UprobeSite{"", 1, false, 1000}});
  if (Status enabled = run->handle_->enable(program); !enabled) return enabled.error();
  const std::vector<EnabledProbe> probes = run->handle_->enabled();
  const auto is_made_up = [](const EnabledProbe& one) { return one.probe->provider == "replay"; };
  if (std::none_of(probes.begin(), probes.end(), is_made_up))
    return Error{fmt::format("it has no clause for the probe {}", kCalibratedProbe)};
  std::vector<Refused> refused;
  if (Status went = run->handle_->go(refused); !went) return went.error();
  return run;
}

void MadeUpRun::fire_all() {
  while (handle_->work()) {
  }
}

Result<ScriptSample> time_program(const dif::Program& program, uint64_t firings) {
  auto run = MadeUpRun::make(program, firings, vm::CostPolicy::none);
  if (!run) return run.error();
  Handle& handle = (*run)->handle();
  const auto count = static_cast<double>(firings);
  const uint64_t begin = read_clock(CLOCK_THREAD_CPUTIME_ID);
  (*run)->fire_all();
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
  const double clocks = profile.clock_hz / 1e9;  // a ns
  const vm::Price found = one.is_consumer ? times(difference(middle(with.consumer), middle(without.consumer)), clocks)
                                          : times(difference(middle(with.probe), middle(without.probe)), clocks);
  const double known = one.is_consumer ? 0 : predicted(pair->with, profile) - predicted(pair->without, profile);
  const double rest = std::max(found.m - known, 0.0);
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
  const vm::Price whole = times(difference(middle(sides.probe), {}), profile.clock_hz / 1e9);
  profile.set("source/replay/trigger", {std::max(whole.m - predicted(*counting, profile), 0.0), 0, whole.spread});
  return {};
}

}  // namespace dvm::runtime
