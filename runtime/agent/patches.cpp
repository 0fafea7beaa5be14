// Tested by tests/unit/instrument/detach_test.cpp and tests/runtime/scenarios/test_agent_tails.py.

#include "runtime/agent/patches.h"

#include <cstring>

#include "runtime/agent/code_writes.h"
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

bool crosses_page(const AgentSite& site) {
  const uint64_t bytes = site.relay == 0 ? kJumpBytes : kShortJumpBytes;
  return site.window_address / kPageBytes != (site.window_address + bytes - 1) / kPageBytes;
}

}  // namespace dvm::runtime
