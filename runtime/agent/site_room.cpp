#include "runtime/agent/site_room.h"

#include "runtime/agent/code_area.h"
#include "runtime/agent/frame_rows.h"
#include "runtime/agent/site_code.h"
#include "runtime/agent/stub.h"

namespace dvm::runtime {

std::span<const AgentFirer> firers_of(const AgentSite& site) {
  const bool is_plain = site.watch == inside::Watch::nothing && site.taking == inside::Taking::nothing;
  return is_plain ? std::span(site.firers) : std::span<const AgentFirer>();
}

uint64_t room_of(const AgentSite& site, const inside::Context& context) {
  uint64_t bytes = align(kMostStubBytes + site_code_bytes(firers_of(site), context), 16) + kMostStubRows * kMostRowBytes +
                   sizeof(inside::FrameEntry) + sizeof(inside::Site) + site.firers.size() * sizeof(inside::Firer) +
                   2 * sizeof(inside::Patch);
  for (const AgentFirer& firer : site.firers) {
    bytes += align(firer.program.size(), 16) + align(firer.larger_program.size(), 16) + 32;
    for (const AgentStep& step : firer.steps) bytes += step.bytes();
  }
  return bytes;
}

}  // namespace dvm::runtime
