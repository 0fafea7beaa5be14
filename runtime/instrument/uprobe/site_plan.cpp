// Plans where probes are put. Tested by tests/unit/instrument/site_plan_test.cpp and, on live processes, uprobe_test.cpp.
#include "runtime/instrument/uprobe/site_plan.h"

#include <algorithm>
#include <set>

namespace dvm::runtime {
namespace {

bool may_move(const EnabledProbe& enabled, const UprobeSite& site) {
  return !enabled.at_entry && enabled.needs.registers == 0 && !site.is_return && !site.inside && site.size != 0;
}

// Sites differ in how far the stack has moved only for what lies on it.
bool reads_stack(const CaptureNeeds& needs) {
  constexpr unsigned kInRegisters = 0x3f;
  const auto starts_there = [](const MemoryNeed& need) { return need.base.arg >= 6 && !need.base.starts_from_zero(); };
  return needs.frames != 0 || (needs.args & ~kInRegisters) != 0 ||
         std::any_of(needs.memory.begin(), needs.memory.end(), starts_there);
}

Place place_at(const EnabledProbe& enabled, const UprobeSite& site, uint64_t offset) {
  return {&enabled, &site, offset, shape_of(site), {enabled.probe->id, 0}};
}

void add_places(const EnabledProbe& enabled, const UprobeSite& site, std::vector<Place>& places) {
  places.push_back(place_at(enabled, site, site.offset));
  for (const uint64_t offset : site.more_offsets) places.push_back(place_at(enabled, site, offset));
}

void move(Place& place, const EntryPlace& to) {
  place.offset += to.moved;
  place.fired_at.moved = to.moved;
  if (reads_stack(place.enabled->needs)) place.shape = SiteShape(SiteKind::entry, to.stack_moved);
}

// Instructions that are probed themselves, by file.
using Instructions = std::map<std::string, std::set<uint64_t>>;

// An entry comes before the instructions of its function.
bool is_in_order(const Place& place, const EntryPlace& to, const std::set<uint64_t>& instructions) {
  const auto first = instructions.lower_bound(place.offset);
  return first == instructions.end() || *first > place.offset + to.moved;
}

// Entries of one file, those that may move.
void move_entries(const std::string& path, const std::vector<Place*>& places, const std::set<uint64_t>& instructions) {
  const auto file = ModuleCode::open(path);
  if (!file) return;
  std::vector<FunctionExtent> functions;
  for (const Place* place : places) {
    const UprobeSite& site = *place->site;
    functions.push_back({site.offset, site.size, site.alone});
  }
  const std::vector<EntryPlace> chosen = choose_entries(**file, functions);
  for (size_t i = 0; i < places.size(); i++)
    if (chosen[i].moved != 0 && is_in_order(*places[i], chosen[i], instructions)) move(*places[i], chosen[i]);
}

}  // namespace

std::vector<EntryPlace> choose_entries(const ModuleCode& file, std::span<const FunctionExtent> functions) {
  std::vector<EntryPlace> places;
  std::map<uint64_t, ModuleCode::Window> moved;
  for (const FunctionExtent& function : functions) {
    places.push_back(choose_entry(file.bytes(function.offset, function.size), function.alone));
    if (places.back().moved != 0) moved[function.offset] = {function, function.offset + places.back().moved};
  }
  std::vector<ModuleCode::Window> windows;
  for (const auto& [offset, window] : moved) windows.push_back(window);
  file.find_entered(windows);
  for (const ModuleCode::Window& window : windows) moved[window.function.offset].is_entered = window.is_entered;
  for (size_t i = 0; i < places.size(); i++)
    if (places[i].moved != 0 && moved[functions[i].offset].is_entered) places[i] = {};
  return places;
}

std::vector<Place> plan_places(std::span<const EnabledProbe> probes) {
  std::vector<Place> places;
  for (const EnabledProbe& enabled : probes) {
    const auto* first = std::get_if<UprobeSite>(&enabled.probe->site);
    if (!first) continue;
    add_places(enabled, *first, places);
    for (const UprobeSite& site : enabled.probe->more_sites) add_places(enabled, site, places);
  }
  std::map<std::string, std::vector<Place*>> by_file;
  Instructions instructions;
  for (Place& place : places) {
    const UprobeSite& site = *place.site;
    if (site.inside) instructions[site.path].insert(place.offset);
    if (place.offset == site.offset && may_move(*place.enabled, site)) by_file[site.path].push_back(&place);
  }
  for (const auto& [path, movable] : by_file) move_entries(path, movable, instructions[path]);
  return places;
}

}  // namespace dvm::runtime
