#pragma once
// The bytes that lead from a site to its stub: a jump, or a short jump to a relay in the padding nearby, which holds the jump.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "runtime/agent/agent_site.h"
#include "runtime/agent/inside/format.h"
#include "runtime/agent/memory.h"

namespace dvm::runtime {

struct SitePatch {
  inside::Patch patch;
  std::optional<inside::Patch> relay{};  // is written first, and put back last
};

SitePatch make_patch(const AgentSite& site, uint64_t stub);
// The patches, then their relays.
std::vector<inside::Patch> table_of(std::span<const SitePatch> patches);
// Relays first. Returns the addresses of the jumps that cannot be placed.
std::set<uint64_t> write_jumps(const AgentMemory& memory, std::span<const SitePatch> patches);
// A jump that crosses pages could be half written when dvm is killed.
bool crosses_page(const AgentSite& site);

inline std::span<const std::byte> bytes_after(const inside::Patch& patch) {
  return std::as_bytes(std::span(patch.after).first(patch.length));
}
inline std::span<const std::byte> bytes_before(const inside::Patch& patch) {
  return std::as_bytes(std::span(patch.before).first(patch.length));
}

}  // namespace dvm::runtime
