// Covered by tests/runtime/agent.

#include "runtime/instrument/agent/agent_planner.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "runtime/code/frame_index.h"
#include "runtime/instrument/agent/clause_code.h"
#include "runtime/instrument/agent/record_program.h"

namespace dvm::runtime {
namespace {

constexpr std::string_view kEntered = "a branch from elsewhere may lead into its first five bytes";
constexpr std::string_view kOverlaps = "another probe lies in its first five bytes";
constexpr std::string_view kHasSymbol = "another symbol lies in its first five bytes";
constexpr std::string_view kUnknownExits = "not all instructions that leave the function are known";
constexpr std::string_view kNoExits = "no instruction leaves the function";
constexpr std::string_view kMixed = "another probe of its function cannot be placed by an agent, and two ways do not mix";

inside::Watch watch_of(std::string_view function) {
  if (function == "prctl") return inside::Watch::prctl;
  return function == "syscall" ? inside::Watch::syscall : inside::Watch::nothing;
}

constexpr uint64_t kLongestInstruction = 15;

using Placed = std::pair<pid_t, uint64_t>;  // at an address

// Identifies a function of a process.
using FunctionKey = std::pair<pid_t, std::pair<const ModuleCode*, uint64_t>>;

}  // namespace

std::optional<FunctionExtent> AgentPlanner::function_of(const UprobeSite& site, const ModuleCode& code) {
  if (!site.inside && site.size != 0) return FunctionExtent{site.offset, site.size, site.alone};
  const auto elf = elfs_.read(site.path);
  const auto address = elf ? (*elf)->address_of(site.offset) : std::nullopt;
  if (!address) return std::nullopt;
  uint64_t begin = 0, size = 0;
  if (const ElfFunction* found = (*elf)->function_at(*address)) {
    begin = found->address, size = found->size;
  } else if (const auto framed = framed_function(code.file(), *address)) {
    begin = framed->address, size = framed->size;
  }
  if (size == 0 || *address - begin > site.offset || *address - begin >= size) return std::nullopt;
  return FunctionExtent{site.offset - (*address - begin), size, size};
}

std::optional<uint64_t> AgentPlanner::address_of(const UprobeSite& site, uint64_t offset) {
  const auto [known, is_new] = objects_.try_emplace(site.pid);
  if (is_new)
    if (auto found = mapped_objects(site.pid)) known->second = std::move(*found);
  for (const MappedObject& object : known->second)
    if (object.open_path == site.path && object.address != 0 && offset >= object.offset)
      return object.address + (offset - object.offset);
  return std::nullopt;
}

// Returns why its function cannot be changed.
std::string_view AgentPlanner::locate(Candidate& candidate) {
  const UprobeSite& site = *candidate.site;
  if (site.semaphore != 0) return "its semaphore would stay raised if dvm were killed";
  candidate.code = files_.open(site.path);
  if (candidate.code == nullptr) return "its file cannot be read";
  if (candidate.code->is_go()) return "code of Go may be interrupted anywhere, and continue elsewhere";
  const auto function = function_of(site, *candidate.code);
  if (!function) return "the bounds of its function are not known";
  candidate.function = *function;
  const auto address = address_of(site, function->offset);
  if (!address) return "its file is not mapped as code";
  candidate.address = *address;
  return {};
}

const FunctionCode& AgentPlanner::decode(const Candidate& candidate) {
  const FunctionExtent& function = candidate.function;
  const auto [decoded, is_new] = decoded_.try_emplace({candidate.code, function.offset});
  if (is_new) decoded->second = decode_function(candidate.code->bytes(function.offset, function.size));
  return decoded->second;
}

// Returns why there is no window.
std::string_view AgentPlanner::fill(Candidate& candidate) {
  const FunctionExtent& function = candidate.function;
  candidate.probed = static_cast<uint32_t>(candidate.site->offset - function.offset);
  const CodeBytes bytes = candidate.code->bytes(function.offset, function.size);
  candidate.window = find_window(bytes, decode(candidate), candidate.probed);
  return candidate.window.refusal.empty() && has_symbol_inside(candidate) ? kHasSymbol : candidate.window.refusal;
}

std::string_view AgentPlanner::fill_exit(Candidate& candidate) {
  candidate.probed = *candidate.exit;
  candidate.window = find_exit_window(with_padding(candidate), decode(candidate), *candidate.exit);
  return candidate.window.refusal.empty() && has_symbol_inside(candidate) ? kHasSymbol : candidate.window.refusal;
}

// The function and what is only there to align the next one: no symbol begins there, and no unwinder knows code there.
CodeBytes AgentPlanner::with_padding(const Candidate& candidate) {
  const FunctionExtent& function = candidate.function;
  const auto elf = elfs_.read(candidate.site->path);
  const auto end = elf ? (*elf)->address_of(function.offset + function.size - 1) : std::nullopt;
  uint64_t padding = 0;
  while (end && padding < kLongestInstruction && !framed_function(candidate.code->file(), *end + 1 + padding)) padding++;
  return candidate.code->bytes(function.offset, function.size + padding);
}


}  // namespace dvm::runtime
