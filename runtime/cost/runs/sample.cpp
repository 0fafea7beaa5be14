// Covered by tests/unit/runtime/cost_model_test.cpp, tests/runtime/scenarios/test_predict_live.py and test_cost.py.

#include "runtime/cost/runs/sample.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <tuple>

#include "common/clock.h"
#include "runtime/catalog/catalog.h"
#include "runtime/code/module_code.h"
#include "runtime/instrument/uprobe/site_plan.h"
#include "runtime/instrument/uprobe/uprobe.h"
#include "runtime/provider/providers.h"
#include "runtime/symbol/unwinder.h"

namespace dvm::runtime {
namespace {

double now() { return static_cast<double>(read_clock(CLOCK_MONOTONIC)) / 1e9; }

// On one CPU.
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

void add(MeasuredClause& to, const EcbAccount& ecb) {
  to.firings += static_cast<double>(ecb.firings), to.hits += static_cast<double>(ecb.predicate_hits);
  to.faults += static_cast<double>(ecb.faults);
  to.instructions.resize(std::max(to.instructions.size(), ecb.instructions.size()));
  for (size_t i = 0; i < ecb.instructions.size(); i++) vm::add_instructions(to.instructions[i], ecb.instructions[i]);
}

using Trap = std::tuple<std::string, uint64_t, int32_t>;  // file, offset, process
Trap trap_of(const PlannedSite& place) { return {place.site->path, place.offset, place.site->pid}; }

// The source of each place of probes that are enabled together.
class PlaceSources {
 public:
  PlaceSources(const std::vector<PlannedSite>& places, bool with_stacks, ModuleCodes& files)
      : with_stacks_(with_stacks), files_(files) {
    for (const PlannedSite& place : places)
      if (!place.is_return) first_.try_emplace(trap_of(place), &place);
  }

  SourceShare operator()(const PlannedSite& place) {
    const bool copies_stack = with_stacks_ && !unwinder_.keeps_frame_pointers(place.site->pid);
    return {source_of(place), 1, copies_stack};
  }

 private:
  const char* source_of(const PlannedSite& place) {
    constexpr size_t kLongestInstruction = 15;
    const auto first = first_.find(trap_of(place));
    if (place.is_return) return first != first_.end() ? "pid_return_shared" : "pid_return";
    if (first->second != &place) return "pid_shared";
    const auto file = files_.open(place.site->path);
    const auto instruction = file ? decode_instruction(file->bytes(place.offset, kLongestInstruction), 0) : std::nullopt;
    if (!instruction || instruction->cost == FiringCost::stepped) return "pid";
    if (instruction->cost == FiringCost::rewritten) return "pid_nop5";
    return place.fired_at.moved == 0 ? "pid_emulated" : "pid_moved";
  }

  bool with_stacks_;
  std::map<Trap, const PlannedSite*> first_;  // of the places that are not returns
  ModuleCodes& files_;
  Unwinder unwinder_;
};

using Key = std::pair<std::string, bool>;
SourceShares shares_of(const std::map<Key, double>& parts) {
  double sum = 0;
  for (const auto& [key, part] : parts) sum += part;
  SourceShares shares;
  for (const auto& [key, part] : parts)
    if (part > 0) shares.push_back({key.first, part / sum, key.second});
  return shares;
}

// If none of them fired, all have the same weight.
ProbeRates weights_of(const std::vector<const Probe*>& probes, const ProbeRates& rates) {
  ProbeRates weights;
  double sum = 0;
  for (const Probe* probe : probes)
    if (const auto known = rates.find(probe); known != rates.end()) sum += weights[probe] = known->second;
  if (sum == 0)
    for (const Probe* probe : probes) weights[probe] = 1;
  return weights;
}

}  // namespace

MeasuredClauses measured_clauses(const Account& account) {
  MeasuredClauses clauses;
  for (const EcbAccount& ecb : account.ecbs)
    if (ecb.firings > 0) add(clauses[position_of(ecb.clause)], ecb);
  return clauses;
}

void add_timer_rates(std::span<const dif::Program* const> programs, unsigned cpus, PredictOptions& options) {
  for (const dif::ProbeDesc* description : descriptions_of(programs)) {
    const std::optional<TimerSite> timer = timer_of(*description);
    if (!timer) continue;
    const double rate = rate_of(*timer) * (timer->every_cpu ? cpus : 1);
    if (options.rates.emplace(text_of(*description), rate).second) options.named_rates.insert(text_of(*description));
  }
}

Result<SampledRates> sample_rates(Handle& handle, std::span<const dif::Program* const> programs, double seconds,
                                  std::vector<Refused>& refused) {
  const auto counter = make_counting_instrument();
  const std::vector<EnabledProbe> counted = counted_probes(handle, *counter);
  if (Status enabled = counter->enable(counted, refused); !enabled) return enabled.error();
  const double begin = now();
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
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

SourcesOfProbes sources_of(const MatchedProbes& matched, bool with_stacks, const ProbeRates& rates) {
  std::vector<EnabledProbe> enabled;
  std::set<const Probe*> seen;
  for (const auto& [description, probes] : matched)
    for (const Probe* probe : probes)
      if (seen.insert(probe).second) enabled.push_back({probe, {}});
  std::vector<Refused> refused;
  ModuleCodes files;
  const std::vector<PlannedSite> places = plan_sites(enabled, refused, files);
  PlaceSources source_of(places, with_stacks, files);
  std::map<const Probe*, std::vector<SourceShare>> of_probe;
  for (const PlannedSite& place : places) of_probe[place.enabled->probe].push_back(source_of(place));
  SourcesOfProbes found;
  for (const auto& [description, probes] : matched) {
    std::map<Key, double> parts;
    for (const auto& [probe, weight] : weights_of(probes, rates))
      for (const SourceShare& one : of_probe[probe])
        parts[{one.source, one.copies_stack}] += weight / static_cast<double>(of_probe[probe].size());
    if (!parts.empty()) found[description] = shares_of(parts);
  }
  return found;
}

bool take_stacks(std::span<const dif::Program* const> programs) {
  for (const dif::EcbDesc* clause : clauses_of(programs))
    for (const dif::ActDesc& action : clause->actions)
      if (std::ranges::count(action.args, dif::Action::ustack, &dif::RecDesc::made_by) > 0) return true;
  return false;
}

MatchedProbes matched_in_processes(Handle& handle, std::span<const dif::Program* const> programs) {
  MatchedProbes matched;
  for (const dif::ProbeDesc* description : descriptions_of(programs)) {
    if (const std::string source = source_of(*description); source != "pid" && source != "usdt") continue;
    const auto probes = handle.catalog().match(*description);
    matched[text_of(*description)].assign(probes.begin(), probes.end());
  }
  return matched;
}

SourcesOfProbes find_sources(Handle& handle, std::span<const dif::Program* const> programs, const ProbeRates& rates) {
  return sources_of(matched_in_processes(handle, programs), take_stacks(programs), rates);
}

}  // namespace dvm::runtime
