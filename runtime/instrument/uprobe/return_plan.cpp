// Plans return probes. Tested by tests/unit/instrument/return_plan_test.cpp and tests/runtime/scenarios/test_returns.py.
#include "runtime/instrument/uprobe/return_plan.h"

#include <algorithm>
#include <array>

#include "runtime/code/frame_index.h"
#include "runtime/symbol/demangle.h"
#include "runtime/symbol/maps.h"
#include "runtime/symbol/stack_switches.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kMostBeginning = 4096;  // bytes of a function that is jumped to at a beginning

}  // namespace

Beyond ReturnPlanner::beyond(const UprobeSite& site, const ModuleCode& file, int64_t target) {
  const uint64_t offset = site.offset + static_cast<uint64_t>(target);
  if (is_jump_by_pointer(file.bytes(offset, 16))) return Beyond::function;
  const auto elf = cache_.read(site.path);
  const auto address = elf ? (*elf)->address_of(offset) : std::nullopt;
  if (!address) return Beyond::unknown;
  const auto leads_back_from = [&](uint64_t begin, uint64_t size) {
    const uint64_t part = offset - (*address - begin);
    return only_leads_back(file.bytes(part, size), static_cast<int64_t>(site.offset - part), site.size);
  };
  if (const ElfFunction* found = (*elf)->function_at(*address)) {
    if (is_piece_of_function(found->name)) return leads_back_from(found->address, found->size) ? Beyond::part : Beyond::unknown;
    return found->address == *address ? Beyond::function : Beyond::unknown;
  }
  // Stripped files do not name the parts of functions.
  const auto framed = framed_function(file.file(), *address);
  return framed && leads_back_from(framed->address, framed->size) ? Beyond::part : Beyond::unknown;
}

const ReturnHazards& ReturnPlanner::hazards_of(const UprobeSite& site) {
  const auto [entry, is_new] = hazards_.try_emplace(site.pid);
  if (!is_new) return entry->second;
  if (const auto its = reader_.of(site.pid)) return entry->second = *its;
  const LinkedFile file = LinkedFile::read(unmapped_program(site.path));  // a prediction, before the program has started
  entry->second.handlers = can_handle_above(std::array{&file});
  return entry->second;
}

// Size of the function there, by its symbol or by what unwinders know; 0 if unknown.
uint64_t ReturnPlanner::size_of(const UprobeSite& site, const ModuleCode& file, uint64_t offset) {
  const auto elf = cache_.read(site.path);
  const auto address = elf ? (*elf)->address_of(offset) : std::nullopt;
  if (!address) return 0;
  if (const ElfFunction* found = (*elf)->function_at(*address)) return found->address + found->size - *address;
  const auto framed = framed_function(file.file(), *address);
  return framed ? framed->address + framed->size - *address : 0;
}

// True if it calls itself, directly or through one other function of the file, or jumps to its own entry, where each round counts
// as a level. A call through a stub mostly leaves the file.
bool ReturnPlanner::comes_back(const UprobeSite& site, const ModuleCode& file) {
  if (file.has_call(site.offset, site.size, site.offset)) return true;
  for (const MachineInstruction& one : decode_function(file.bytes(site.offset, site.size)).instructions) {
    if ((one.flow == Flow::jump || one.flow == Flow::branch) && one.target == 0) return true;
    if (one.flow != Flow::call || !one.target) continue;
    const uint64_t callee = site.offset + static_cast<uint64_t>(*one.target);
    if (is_jump_by_pointer(file.bytes(callee, 16))) continue;
    if (file.has_call(callee, size_of(site, file, callee), site.offset)) return true;
  }
  return false;
}

// By its call frame information; without any it is believed to be.
bool ReturnPlanner::is_called_as_usual(const UprobeSite& site) {
  const auto frames = frames_.open(site.path);
  const auto address = frames ? frames->address_of(site.offset) : std::nullopt;
  if (!address) return true;
  const FrameRule& rule = frames->at(*address);
  if (!rule.is_known) return true;
  const FrameRule::SavedRegister& place = rule.places[kReturnAddress];
  const bool is_on_top = !rule.cfa_is_loaded && rule.cfa_base == kStackPointer && rule.cfa_offset == 8;
  return is_on_top && !rule.is_signal && place.kept == FrameRule::Kept::at_cfa && place.offset == -8;
}

bool ReturnPlanner::has_usual_return_address(const UprobeSite& site, const ModuleCode& file) {
  constexpr size_t kMostParts = 4;
  if (switches_stacks(file.bytes(site.offset, site.size))) return false;  // it returns where another one was called
  std::vector<uint64_t> parts = {site.offset};                            // it, and functions that return in its place
  for (size_t i = 0; i < parts.size(); i++) {
    const Beginning beginning = read_beginning(file.bytes(parts[i], i == 0 ? site.size : kMostBeginning));
    if (beginning.keeps_return_address) return false;
    for (const int64_t target : beginning.continues)
      if (parts.size() < kMostParts) parts.push_back(parts[i] + static_cast<uint64_t>(target));
  }
  return is_called_as_usual(site);
}

// Empty: none.
std::string_view ReturnPlanner::harm_of_uretprobe(const UprobeSite& site, const ModuleCode& file, bool is_leaf, ReturnBy by) {
  if (file.is_go()) return "not all instructions that leave the function are known, and the program is Go's";
  if (!has_usual_return_address(site, file))
    return "not all instructions that leave the function are known, and its return address is none that a return probe may "
           "replace";
  if (by != ReturnBy::uretprobe && in_all_processes_)
    return "not all instructions that leave the function are known, and with -x followfork a return probe is placed in all "
           "processes that map the file, of which it could end some; -x return=uretprobe takes this risk";
  if (by != ReturnBy::uretprobe && hazards_of(site).handlers)
    return "not all instructions that leave the function are known, and a return probe that a signal handler interrupts on a "
           "stack above ends the program; -x return=uretprobe takes this risk";
  const std::string& wrapper = hazards_of(site).wrapper;
  if (by != ReturnBy::uretprobe && !wrapper.empty() && wrapper != site.path)
    return "not all instructions that leave the function are known, and the program may execute another one that a return probe "
           "could end; -x return=uretprobe takes this risk";
  const bool is_passed = by != ReturnBy::uretprobe && !is_leaf;
  if (is_passed && hazards_of(site).exceptions)
    return "not all instructions that leave the function are known, and an exception through a return probe ends the program; "
           "-x return=uretprobe takes this risk";
  if (is_passed && hazards_of(site).switches)
    return "not all instructions that leave the function are known, and a return probe that the program leaves for another stack "
           "ends it; -x return=uretprobe takes this risk";
  return by == ReturnBy::exits ? "not all instructions that leave the function are known" : "";
}

Exits ReturnPlanner::exits_of(const UprobeSite& site, const ModuleCode& file) {
  const CodeBytes code = file.bytes(site.offset, site.size);
  Exits exits = find_exits(code, [&](int64_t target) { return beyond(site, file, target); });
  const bool may_stay = std::any_of(exits.offsets.begin(), exits.offsets.end(),
                                    [&](uint32_t offset) { return jumps_by_register(code.subspan(offset)); });
  if (may_stay && file.is_named_inside({site.offset, site.size, site.size})) exits.is_complete = false;
  return exits;
}

ReturnPlan ReturnPlanner::plan(const UprobeSite& site, const ModuleCode* file, ReturnWants wants, ReturnBy by) {
  if (file == nullptr) return {};
  if (is_jump_by_pointer(file->bytes(site.offset, 16)))  // a stub of setjmp(), for one, which keeps its return address
    return {ReturnPlan::By::nothing, {}, {}, {}, "it jumps to a function elsewhere, and that returns; probe that function"};
  if (site.size == 0 && !in_all_processes_) return {};
  const CodeBytes code = file->bytes(site.offset, site.size);
  const Exits exits = exits_of(site, *file);
  ReturnPlan plan;
  if (exits.is_complete && exits.offsets.size() == 1) plan.only_exit = exits.offsets.front();
  plan.why_not = harm_of_uretprobe(site, *file, exits.is_leaf, by);
  const bool is_early = wants.value && exits.has_jump;  // at the exits
  if (is_early && (!plan.why_not.empty() || (by == ReturnBy::safe && wants.callers)))
    return {
        ReturnPlan::By::nothing, {}, {}, {}, "it leaves by a jump to another function, where its value (arg1) is not known yet"};
  if (is_early) plan.hazards = hazards_of(site);
  if (is_early) return plan;
  const auto first = decode_instruction(code, 0);
  const bool is_better = (wants.offset && !plan.only_exit) || (first && !first->can_be_probed()) ||
                         (by == ReturnBy::safe && (wants.callers || wants.place || comes_back(site, *file)));
  const bool are_known = exits.is_complete && (!exits.offsets.empty() || file->is_go());
  if (are_known && (is_better || !plan.why_not.empty()))
    plan.by = ReturnPlan::By::exits;
  else if (!plan.why_not.empty())
    plan.by = ReturnPlan::By::nothing;
  if (plan.by == ReturnPlan::By::exits) plan.exits = exits.offsets;
  if (plan.by == ReturnPlan::By::uretprobe) plan.hazards = hazards_of(site);
  return plan;
}

}  // namespace dvm::runtime
