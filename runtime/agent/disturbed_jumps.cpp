#include "runtime/agent/disturbed_jumps.h"

#include <algorithm>

#include "runtime/agent/code_pages.h"
#include "runtime/agent/patches.h"

namespace dvm::runtime {

void DisturbedJumps::add(const inside::Patch& patch, const AgentSite& site) {
  const bool is_watched = site.watch != inside::Watch::nothing || site.taking != inside::Taking::nothing;
  is_watched ? void(watched_[patch.address] = {patch, site.watch}) : void(others_[patch.address] = patch);
}

void DisturbedJumps::remove(std::span<const uint64_t> jumps) {
  for (const uint64_t one : jumps) watched_.erase(one), others_.erase(one);
}

std::vector<uint64_t> DisturbedJumps::find(const AgentMemory& memory) {
  constexpr uint64_t kPagesOfOthers = 64;
  constexpr uint64_t kBytesOfPage = 4096;
  std::vector<uint64_t> found;
  CodePages code(memory);
  const auto look = [&](const inside::Patch& patch) {
    if (is_disturbed(code, patch)) found.push_back(patch.address);
  };
  for (const auto& [address, one] : watched_) look(one.patch);
  auto other = others_.lower_bound(next_);
  for (uint64_t last = 0, pages = 0; other != others_.end(); ++other) {
    const uint64_t page = other->first / kBytesOfPage;
    if (page != last && pages++ == kPagesOfOthers) break;
    last = page;
    look(other->second);
  }
  next_ = other == others_.end() ? 0 : other->first;
  std::sort(found.begin(), found.end());
  return found;
}

bool DisturbedJumps::must_leave(std::span<const uint64_t> jumps) const {
  using inside::Watch;
  constexpr Watch kWithout[] = {Watch::nothing, Watch::exec, Watch::fork, Watch::unwind, Watch::load, Watch::mlockall};
  return std::any_of(jumps.begin(), jumps.end(), [&](uint64_t jump) {
    const auto its = watched_.find(jump);
    return its != watched_.end() && std::ranges::find(kWithout, its->second.watch) == std::end(kWithout);
  });
}

}  // namespace dvm::runtime
