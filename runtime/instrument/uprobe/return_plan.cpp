// Plans return probes. Tested by tests/unit/instrument/return_plan_test.cpp and tests/runtime/scenarios/test_returns.py.
#include "runtime/instrument/uprobe/return_plan.h"

#include <algorithm>

#include "runtime/symbol/demangle.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kMostCallee = 4096;  // bytes of a called function that are looked at

// Those who unwind stacks have a library for it, or are linked with one.
bool is_unwinder(const MappedObject& object, ElfCache& cache) {
  if (object.name.starts_with("libgcc_s") || object.name.starts_with("libunwind")) return true;
  if (!object.is_program) return false;
  const auto elf = cache.read(object.open_path);
  if (!elf) return true;
  const auto& all = (*elf)->functions();
  return std::any_of(all.begin(), all.end(), [](const ElfFunction& one) { return one.name == "_Unwind_RaiseException"; });
}

}  // namespace

// Whether control comes back from the part, or never leaves it.
bool ReturnPlanner::stays_in(const UprobeSite& site, const ModuleCode& file, const ElfFunction& part) {
  const FunctionCode code = decode_function(file.bytes(part.offset, part.size));
  const auto lies_in = [](uint64_t offset, uint64_t begin, uint64_t size) { return offset >= begin && offset - begin < size; };
  return std::all_of(code.instructions.begin(), code.instructions.end(), [&](const MachineInstruction& one) {
    if (one.flow != Flow::jump && one.flow != Flow::branch) return one.flow != Flow::return_;
    const uint64_t target = part.offset + static_cast<uint64_t>(one.target.value_or(0));
    return one.target && (lies_in(target, part.offset, part.size) || lies_in(target, site.offset, site.size));
  });
}

Beyond ReturnPlanner::beyond(const UprobeSite& site, const ModuleCode& file, int64_t target) {
  const uint64_t offset = site.offset + static_cast<uint64_t>(target);
  if (is_jump_by_pointer(file.bytes(offset, 16))) return Beyond::function;
  const auto elf = cache_.read(site.path);
  const auto address = elf ? (*elf)->address_of(offset) : std::nullopt;
  const ElfFunction* found = address ? (*elf)->function_at(*address) : nullptr;
  if (!found) return Beyond::unknown;
  if (is_piece_of_function(found->name)) return stays_in(site, file, *found) ? Beyond::part : Beyond::unknown;
  return found->address == *address ? Beyond::function : Beyond::unknown;
}

bool ReturnPlanner::can_throw(int32_t pid) {
  const auto [entry, is_new] = throws_.try_emplace(pid, true);
  if (!is_new) return entry->second;
  if (const auto objects = mapped_objects(pid))
    entry->second =
        std::any_of(objects->begin(), objects->end(), [&](const MappedObject& one) { return is_unwinder(one, cache_); });
  return entry->second;
}

// Calls itself, at once or by way of one other function of the file.
bool ReturnPlanner::comes_back(const UprobeSite& site, const ModuleCode& file) {
  if (file.has_call(site.offset, site.size, site.offset)) return true;
  for (const MachineInstruction& one : decode_function(file.bytes(site.offset, site.size)).instructions) {
    if (one.flow != Flow::call || !one.target) continue;
    if (file.has_call(site.offset + static_cast<uint64_t>(*one.target), kMostCallee, site.offset)) return true;
  }
  return false;
}

// By its call frame information; without any it is believed to be.
bool ReturnPlanner::is_called_as_usual(const UprobeSite& site) {
  auto [frames, is_new] = frames_.try_emplace(site.path);
  if (is_new) frames->second = CallFrames::open(site.path);
  const auto address = frames->second ? frames->second->address_of(site.offset) : std::nullopt;
  if (!address) return true;
  const FrameRule& rule = frames->second->at(*address);
  if (!rule.is_known) return true;
  const FrameRule::Place& place = rule.places[kReturnAddress];
  const bool is_on_top = !rule.cfa_is_loaded && rule.cfa_base == kStackPointer && rule.cfa_offset == 8;
  return is_on_top && !rule.is_signal && place.kept == FrameRule::Kept::at_cfa && place.offset == -8;
}

bool ReturnPlanner::has_usual_return_address(const UprobeSite& site, const ModuleCode& file) {
  constexpr int kMostJumps = 3;
  uint64_t offset = site.offset, size = site.size;
  for (int i = 0; i <= kMostJumps; i++) {
    const Beginning beginning = read_beginning(file.bytes(offset, size));
    if (beginning.keeps_return_address) return false;
    if (!beginning.continues) break;
    offset += static_cast<uint64_t>(*beginning.continues), size = kMostCallee;
  }
  return is_called_as_usual(site);
}

ReturnPlan ReturnPlanner::plan(const UprobeSite& site, const ModuleCode* file, bool wants_offset) {
  if (file == nullptr || site.size == 0) return {};
  ReturnPlan plan;
  const CodeBytes code = file->bytes(site.offset, site.size);
  const Exits exits = find_exits(code, [&](int64_t target) { return beyond(site, *file, target); });
  const bool is_only = exits.is_complete && exits.offsets.size() == 1;
  if (is_only) plan.only_exit = exits.offsets.front();
  const bool tells = is_only || !wants_offset;
  if (file->is_go()) {
    plan.by = exits.is_complete ? ReturnPlan::By::exits : ReturnPlan::By::nothing;
    plan.why_not = "not all instructions that leave the function are known, and the program is Go's";
  } else if (exits.is_complete && !exits.offsets.empty()) {
    const bool is_safe = exits.is_leaf || (!can_throw(site.pid) && !comes_back(site, *file));
    if (!tells || !is_safe || !has_usual_return_address(site, *file)) plan.by = ReturnPlan::By::exits;
  } else if (!has_usual_return_address(site, *file)) {
    plan.by = ReturnPlan::By::nothing;
    plan.why_not =
        "not all instructions that leave the function are known, and its return address is none that a return probe may replace";
  } else if (!exits.is_leaf && can_throw(site.pid)) {
    plan.by = ReturnPlan::By::nothing;
    plan.why_not =
        "not all instructions that leave the function are known, and an exception through a return probe ends the program";
  }
  if (plan.by == ReturnPlan::By::exits) plan.exits = exits.offsets;
  return plan;
}

}  // namespace dvm::runtime
