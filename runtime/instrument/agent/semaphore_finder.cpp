// Tested by tests/runtime/scenarios/test_agent_semaphores.py.

#include "runtime/instrument/agent/semaphore_finder.h"

#include <optional>
#include <utility>

#include "runtime/agent/semaphores.h"

namespace dvm::runtime {

std::string_view SemaphoreFinder::find(const UprobeSite& site, const ElfObject* elf, uint64_t mapped_at, uint64_t offset,
                                       uint64_t& address) {
  address = 0;
  if (site.semaphore_address == 0) return {};
  const auto bias = elf != nullptr ? elf->bias(mapped_at, offset) : std::nullopt;
  if (!bias || !elf->is_loaded(site.semaphore_address)) return "its semaphore lies outside of its file";
  address = site.semaphore_address + *bias;
  const auto [known, is_new] = mappings_.try_emplace(site.pid);
  if (is_new)
    if (auto found = mappings_of(site.pid)) known->second = *std::move(found);
  return semaphore_refusal(known->second, address);
}

}  // namespace dvm::runtime
