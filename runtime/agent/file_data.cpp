#include "runtime/agent/file_data.h"

#include <algorithm>

#include "runtime/agent/unfit_sites.h"
#include "runtime/code/raised_signals.h"

namespace dvm::runtime {
namespace {

// False: there is no room.
bool add_range(const AddressRange& range, inside::WatchedMemory& watched) {
  const auto known = std::span(watched.ranges).first(watched.count);
  if (std::any_of(known.begin(), known.end(), [&](auto& one) { return one.begin <= range.begin && range.end <= one.end; }))
    return true;
  if (watched.count == inside::kMostWatched) return false;
  watched.ranges[watched.count++] = {range.begin, range.end};
  return true;
}

bool watch_operands(const AgentSite& site, const std::vector<MemoryMapping>& mappings, inside::WatchedMemory& watched) {
  const std::vector<FileOperand> operands = file_operands(CodeBytes(site.window).first(site.copied), site.window_address);
  return std::all_of(operands.begin(), operands.end(), [&](const FileOperand& one) {
    const MemoryMapping* first = mapping_at(mappings, one.address);
    const MemoryMapping* last = mapping_at(mappings, one.address + one.bytes - 1);
    return first != nullptr && first == last && (first->is_writable || (first->is_constant && !one.is_written)) &&
           add_range(first->range, watched);
  });
}

bool lies_in(uint64_t address, const inside::MemoryRange& range) { return range.begin <= address && address < range.end; }

}  // namespace

void note_code(std::span<const AgentSite> sites, const std::vector<MemoryMapping>& mappings, inside::OwnMemory& own) {
  for (const AgentSite& site : sites) {
    const auto known = std::span(own.code).first(own.code_count);
    if (!site.refusal.empty() || own.code_count == inside::kMostCode) continue;
    if (std::any_of(known.begin(), known.end(), [&](auto& one) { return lies_in(site.window_address, one); })) continue;
    if (const MemoryMapping* its = mapping_at(mappings, site.window_address); its != nullptr)
      own.code[own.code_count++] = {its->range.begin, its->range.end};
  }
}

void watch_file_data(std::span<AgentSite* const> sites, const std::vector<MemoryMapping>& mappings,
                     inside::WatchedMemory& watched) {
  for (AgentSite* site : sites)
    if ((site->raises & kFileData) != 0 && site->refusal.empty() && !watch_operands(*site, mappings, watched))
      site->refusal = kRaises;
}

}  // namespace dvm::runtime
