// Tested by tests/unit/instrument/unfit_sites_test.cpp and tests/runtime/scenarios/test_shared_code.py.

#include "runtime/agent/unfit_sites.h"

#include <algorithm>
#include <string_view>

#include "runtime/agent/code_pages.h"
#include "runtime/agent/patches.h"

namespace dvm::runtime {
namespace {

std::string_view unfit(const AgentSite& site, const std::vector<MemoryMapping>& mappings) {
  if (crosses_page(site)) return kCrossesPage;
  const MemoryMapping* mapping = mapping_at(mappings, site.window_address);
  if (mapping != nullptr && mapping->is_shared) return kSharedCode;
  return mapping != nullptr && mapping->is_writable ? kWritableCode : std::string_view();
}

}  // namespace

void refuse_unfit(std::span<AgentSite> sites, const std::vector<MemoryMapping>& mappings) {
  for (AgentSite& site : sites)
    if (site.refusal.empty()) site.refusal = unfit(site, mappings);
}

void refuse_changed(std::span<AgentSite* const> sites, const AgentMemory& memory, std::span<const KeptUnwinder> kept) {
  CodePages code(memory);
  for (AgentSite* site : sites) {
    const auto takes_place_of = [&](const KeptUnwinder& one) {
      return site->watch == inside::Watch::unwind && one.patch.address == site->window_address &&
             code.holds(site->window_address, bytes_after(one.patch));
    };
    const bool is_there = code.holds(site->window_address, std::as_bytes(std::span(site->window))) ||
                          std::any_of(kept.begin(), kept.end(), takes_place_of);
    if (is_there && code.holds(site->relay, std::as_bytes(std::span(site->padding)))) continue;
    site->refusal = kChanged;
  }
}

Status refuse_unfit(std::span<AgentSite> sites, pid_t pid) {
  const auto mappings = mappings_of(pid);
  if (!mappings) return mappings.error();
  refuse_unfit(sites, *mappings);
  return {};
}

}  // namespace dvm::runtime
