// Covered by tests/runtime/scenarios/test_cost.py.

#include "runtime/cost/site_sources.h"

#include <map>

#include "runtime/code/module_code.h"
#include "runtime/instrument/uprobe/site_plan.h"

namespace dvm::runtime {
namespace {

const char* source_of(const Place& place, ModuleCodes& files) {
  constexpr size_t kLongestInstruction = 15;
  if (place.is_return) return "pid_return";
  const ModuleCode* file = files.open(place.site->path);
  const auto instruction = file ? decode_instruction(file->bytes(place.offset, kLongestInstruction), 0) : std::nullopt;
  if (!instruction || instruction->cost == FiringCost::stepped) return "pid";
  if (instruction->cost == FiringCost::rewritten) return "pid_nop5";
  return place.fired_at.moved == 0 ? "pid_emulated" : "pid_moved";
}

}  // namespace

SourceShares sources_of_probes(std::span<const Probe* const> probes) {
  std::vector<EnabledProbe> enabled;
  for (const Probe* probe : probes) enabled.push_back({probe, {}});
  std::vector<Refused> refused;
  const std::vector<Place> places = plan_places(enabled, refused);
  std::map<const EnabledProbe*, double> places_of;
  for (const Place& place : places) places_of[place.enabled]++;
  std::map<std::string, double> shares;
  ModuleCodes files;
  const auto all = static_cast<double>(places_of.size());
  for (const Place& place : places) shares[source_of(place, files)] += 1 / places_of[place.enabled] / all;
  SourceShares made;
  for (const auto& [source, share] : shares) made.push_back({source, share});
  return made;
}

std::map<std::string, SourceShares> find_sources(Handle& handle, std::span<const dif::Program* const> programs) {
  std::map<std::string, SourceShares> found;
  for (const dif::Program* program : programs)
    for (const dif::EcbDesc& clause : program->clauses)
      for (const dif::ProbeDesc& description : clause.probes) {
        if (const std::string source = source_of(description); source != "pid" && source != "usdt") continue;
        const auto probes = handle.catalog().match(description);
        if (SourceShares sources = sources_of_probes(probes); !sources.empty()) found[text_of(description)] = std::move(sources);
      }
  return found;
}

}  // namespace dvm::runtime
