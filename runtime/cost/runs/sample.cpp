// Covered by tests/unit/runtime/cost_model_test.cpp and tests/runtime/scenarios/test_predict_live.py.

#include "runtime/cost/runs/sample.h"

#include <time.h>

#include <algorithm>
#include <cmath>

#include "common/clock.h"
#include "runtime/catalog/catalog.h"
#include "runtime/instrument/uprobe/uprobe.h"
#include "runtime/provider/providers.h"

namespace dvm::runtime {
namespace {

double now() { return static_cast<double>(read_clock(CLOCK_MONOTONIC)) / 1e9; }

void sleep_for(double seconds) {
  timespec left{static_cast<time_t>(seconds), static_cast<long>(std::fmod(seconds, 1.0) * 1e9)};
  while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) != 0) {
  }
}

// The rate of a probe that dvm's own loop fires.
double rate_of(const TimerSite& timer) { return timer.period_ns == 0 ? 0 : 1e9 / static_cast<double>(timer.period_ns); }

// Counting needs no captures, which do not change how often a probe fires.
std::vector<EnabledProbe> counted_probes(const Handle& handle, const CountingInstrument& counter) {
  std::vector<EnabledProbe> counted;
  for (EnabledProbe& probe : handle.enabled()) {
    if (!counter.takes(*probe.probe)) continue;
    probe.needs = {};
    counted.push_back(std::move(probe));
  }
  return counted;
}

double rate_of(const Probe& probe, const CountingInstrument& counter, double seconds) {
  if (counter.takes(probe)) return static_cast<double>(counter.count_of(probe)) / seconds;
  const auto* timer = std::get_if<TimerSite>(&probe.site);
  return timer ? rate_of(*timer) : 0;
}

struct CountedClause {
  double firings = 0, hits = 0;
  std::vector<vm::InstructionCounts> instructions;
};

void add(CountedClause& to, const EcbAccount& ecb) {
  to.firings += static_cast<double>(ecb.firings), to.hits += static_cast<double>(ecb.predicate_hits);
  to.instructions.resize(std::max(to.instructions.size(), ecb.instructions.size()));
  for (size_t i = 0; i < ecb.instructions.size(); i++) vm::add_instructions(to.instructions[i], ecb.instructions[i]);
}

}  // namespace

MeasuredClauses measured_clauses(const Account& account) {
  std::map<ClausePosition, CountedClause> counted;
  for (const EcbAccount& ecb : account.ecbs) add(counted[position_of(ecb.clause)], ecb);
  MeasuredClauses clauses;
  for (auto& [place, count] : counted)
    if (count.firings > 0) clauses[place] = {count.hits / count.firings, std::move(count.instructions)};
  return clauses;
}

void add_timer_rates(std::span<const dif::Program* const> programs, unsigned cpus, PredictOptions& options) {
  for (const dif::ProbeDesc* description : descriptions_of(programs)) {
    const std::optional<TimerSite> timer = timer_of(*description);
    if (!timer) continue;
    const double rate = 1e9 / static_cast<double>(timer->period_ns) * (timer->every_cpu ? cpus : 1);
    if (options.rates.emplace(text_of(*description), rate).second) options.named_rates.insert(text_of(*description));
  }
}

Result<SampledRates> sample_rates(Handle& handle, std::span<const dif::Program* const> programs, double seconds,
                                  std::vector<Refused>& refused) {
  const auto counter = make_counting_instrument();
  const std::vector<EnabledProbe> counted = counted_probes(handle, *counter);
  if (Status enabled = counter->enable(counted, refused); !enabled) return enabled.error();
  const double begin = now();
  sleep_for(seconds);
  const double taken = now() - begin;
  SampledRates rates;
  for (const EnabledProbe& probe : counted) rates.of_probes[probe.probe] = rate_of(*probe.probe, *counter, taken);
  for (const dif::ProbeDesc* description : descriptions_of(programs)) {
    if (is_own_probe(*description)) continue;
    double& rate = rates.of_descriptions[text_of(*description)] = 0;
    for (const Probe* probe : handle.catalog().match(*description)) rate += rate_of(*probe, *counter, taken);
  }
  return rates;
}

Result<MeasuredClauses> sample_clauses(Handle& handle, double seconds) {
  std::vector<Refused> refused;
  if (Status went = handle.go(refused); !went) return went.error();
  const double end = now() + seconds;
  while (now() < end && handle.work()) {
  }
  if (Status stopped = handle.stop(); !stopped) return stopped.error();
  return measured_clauses(handle.account());
}

}  // namespace dvm::runtime
