#pragma once
// The bytes that lead from a site to its stub: a jump, or a short jump to a relay in the padding nearby, which holds the jump.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "runtime/agent/agent_site.h"
#include "runtime/agent/code_pages.h"
#include "runtime/agent/code_writes.h"
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

// True if uprobes of other tools have replaced bytes of the jump, or have put back those of the file at their end. The kernel
// knows nothing of the jump: behind the instruction of the file, a thread goes on among what is left of it.
bool is_disturbed(CodePages& code, const inside::Patch& patch);
// If the jump is there, or such a rest of it, adds what makes the code that of the file. Bytes of uprobes stay, which the kernel
// puts back itself. The patch is kept until it is written.
bool add_restored(CodePages& code, const inside::Patch& patch, CodeWrites& writes);

inline std::span<const std::byte> bytes_after(const inside::Patch& patch) {
  return std::as_bytes(std::span(patch.after).first(patch.length));
}
inline std::span<const std::byte> bytes_before(const inside::Patch& patch) {
  return std::as_bytes(std::span(patch.before).first(patch.length));
}

}  // namespace dvm::runtime
