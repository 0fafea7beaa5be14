// Covered by tests/runtime/scenarios/test_cost.py.

#include "runtime/cost/runs/site_sources.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "runtime/catalog/catalog.h"
#include "runtime/code/module_code.h"
#include "runtime/instrument/uprobe/site_plan.h"
#include "runtime/symbol/unwinder.h"

namespace dvm::runtime {
namespace {

using Trap = std::tuple<std::string, uint64_t, int32_t>;  // file, offset, process
Trap trap_of(const PlannedSite& place) { return {place.site->path, place.offset, place.site->pid}; }

// The source of each place of probes that are enabled together.
class PlaceSources {
 public:
  PlaceSources(const std::vector<PlannedSite>& places, bool with_stacks) : with_stacks_(with_stacks) {
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
    const ModuleCode* file = files_.open(place.site->path);
    const auto instruction = file ? decode_instruction(file->bytes(place.offset, kLongestInstruction), 0) : std::nullopt;
    if (!instruction || instruction->cost == FiringCost::stepped) return "pid";
    if (instruction->cost == FiringCost::rewritten) return "pid_nop5";
    return place.fired_at.moved == 0 ? "pid_emulated" : "pid_moved";
  }

  bool with_stacks_;
  std::map<Trap, const PlannedSite*> first_;  // of the places that are not returns
  ModuleCodes files_;
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

SourcesOfProbes sources_of(const MatchedProbes& matched, bool with_stacks, const ProbeRates& rates) {
  std::vector<EnabledProbe> enabled;
  std::set<const Probe*> seen;
  for (const auto& [description, probes] : matched)
    for (const Probe* probe : probes)
      if (seen.insert(probe).second) enabled.push_back({probe, {}});
  std::vector<Refused> refused;
  const std::vector<PlannedSite> places = plan_sites(enabled, refused);
  PlaceSources source_of(places, with_stacks);
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
  const auto is_stack = [](const dif::RecDesc& value) { return value.made_by == dif::Action::ustack; };
  const auto takes = [&](const dif::ActDesc& action) { return std::any_of(action.args.begin(), action.args.end(), is_stack); };
  const std::vector<const dif::EcbDesc*> clauses = clauses_of(programs);
  return std::any_of(clauses.begin(), clauses.end(), [&](const dif::EcbDesc* clause) {
    return std::any_of(clause->actions.begin(), clause->actions.end(), takes);
  });
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
