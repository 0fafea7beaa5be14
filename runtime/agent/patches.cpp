// Tested by tests/unit/instrument/detach_test.cpp and tests/runtime/scenarios/test_agent_tails.py.

#include "runtime/agent/patches.h"

#include <cstring>

#include "runtime/code/displaced.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kPageBytes = 4096;

template <class Distance>
inside::Patch jump_at(uint64_t address, std::span<const unsigned char> before, uint8_t opcode, uint64_t to) {
  inside::Patch patch{address, {}, 1 + sizeof(Distance), {opcode}, inside::PatchKind::site};
  const auto distance = static_cast<Distance>(to - (address + patch.length));
  std::memcpy(patch.before, before.data(), patch.length);
  std::memcpy(patch.after + 1, &distance, sizeof distance);
  return patch;
}

constexpr uint8_t kJump = 0xe9;
constexpr std::byte kTrap{0xcc};

enum class HeldByte : uint8_t { of_jump, of_both, of_uprobe, of_file, other };

// A byte that the jump and the file have in common says nothing.
HeldByte byte_at(CodePages& code, const inside::Patch& patch, size_t i) {
  const auto holds = [&](std::span<const std::byte> byte) { return code.holds(patch.address + i, byte); };
  const auto after = bytes_after(patch).subspan(i, 1), before = bytes_before(patch).subspan(i, 1);
  if (holds(after)) return after[0] == before[0] ? HeldByte::of_both : HeldByte::of_jump;
  if (holds(before)) return HeldByte::of_file;
  return holds({&kTrap, 1}) ? HeldByte::of_uprobe : HeldByte::other;
}

}  // namespace

SitePatch make_patch(const AgentSite& site, uint64_t stub) {
  if (site.relay == 0) {
    SitePatch made{jump_at<int32_t>(site.window_address, site.window, kJump, stub)};
    if (site.watch == inside::Watch::unwind) made.patch.kind = inside::PatchKind::unwinder;
    return made;
  }
  SitePatch made{jump_at<int8_t>(site.window_address, site.window, inside::kShortJump, site.relay),
                 jump_at<int32_t>(site.relay, site.padding, kJump, stub)};
  made.relay->kind = inside::PatchKind::relay;
  return made;
}

std::vector<inside::Patch> table_of(std::span<const SitePatch> patches) {
  std::vector<inside::Patch> table;
  for (const SitePatch& one : patches) table.push_back(one.patch);
  for (const SitePatch& one : patches)
    if (one.relay) table.push_back(*one.relay);
  return table;
}

std::set<uint64_t> write_jumps(const AgentMemory& memory, std::span<const SitePatch> patches) {
  CodeWrites relays, jumps;
  for (const SitePatch& one : patches)
    if (one.relay) relays.add(one.relay->address, bytes_after(*one.relay));
  const std::set<uint64_t> lost = relays.write(memory);
  std::set<uint64_t> failed;
  for (const SitePatch& one : patches) {
    const bool leads_on = !one.relay || !lost.contains(one.relay->address);
    leads_on ? jumps.add(one.patch.address, bytes_after(one.patch)) : void(failed.insert(one.patch.address));
  }
  failed.merge(jumps.write(memory));
  return failed;
}

// The one byte of a short jump's distance does not tell a jump from other code.
bool is_disturbed(CodePages& code, const inside::Patch& patch) {
  constexpr int kMostReplaced = 2;
  if (patch.length < kJumpBytes) return false;
  int own = 0, replaced = 0;
  for (size_t i = 0; i < patch.length; i++) {
    const HeldByte byte = byte_at(code, patch, i);
    if (byte == HeldByte::other) return false;
    own += byte == HeldByte::of_jump;
    replaced += byte == HeldByte::of_file || byte == HeldByte::of_uprobe;
  }
  return own > 0 && replaced > 0 && replaced <= kMostReplaced;
}

bool add_restored(CodePages& code, const inside::Patch& patch, CodeWrites& writes) {
  const bool is_whole = code.holds(patch.address, bytes_after(patch));
  if (is_whole) writes.add(patch.address, bytes_before(patch));
  if (is_whole || !is_disturbed(code, patch)) return is_whole;
  for (size_t i = 0; i < patch.length; i++)
    if (byte_at(code, patch, i) == HeldByte::of_jump) writes.add(patch.address + i, bytes_before(patch).subspan(i, 1));
  return true;
}

bool crosses_page(const AgentSite& site) {
  const uint64_t bytes = site.relay == 0 ? kJumpBytes : kShortJumpBytes;
  return site.window_address / kPageBytes != (site.window_address + bytes - 1) / kPageBytes;
}

}  // namespace dvm::runtime
