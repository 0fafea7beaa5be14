#include "runtime/instrument/agent/fault_sites.h"

#include <set>

namespace dvm::runtime {

void FaultSites::add(const AgentSite& site) {
  Raising& its = sites_[site.window_address];
  const bool raises_less = (its.raises & ~site.raises) != 0;  // than the site there before
  its = {site.function, site.raises};
  raised_ |= site.raises;
  if (raises_less) forget({});
}

std::vector<uint64_t> FaultSites::with(SignalSet signals, const PlacedProbes& placed) const {
  std::vector<uint64_t> raising;
  for (const auto& [address, site] : sites_)
    if ((site.raises & signals) != 0) raising.push_back(address);
  return with(raising, placed);
}

std::vector<uint64_t> FaultSites::with(std::span<const uint64_t> addresses, const PlacedProbes& placed) const {
  std::set<uint64_t> found(addresses.begin(), addresses.end()), functions;
  for (size_t before = 0; before != found.size();) {
    before = found.size();
    placed.add_all_of(found);
    for (const uint64_t address : found)
      if (const auto site = sites_.find(address); site != sites_.end()) functions.insert(site->second.function);
    for (const auto& [address, site] : sites_)
      if (functions.contains(site.function)) found.insert(address);
  }
  return {found.begin(), found.end()};
}

void FaultSites::forget(std::span<const uint64_t> addresses) {
  for (const uint64_t address : addresses) sites_.erase(address);
  raised_ = 0;
  for (const auto& [address, site] : sites_) raised_ |= site.raises;
}

std::vector<uint64_t> FaultSites::addresses() const {
  std::vector<uint64_t> all;
  for (const auto& [address, site] : sites_) all.push_back(address);
  return all;
}

}  // namespace dvm::runtime
