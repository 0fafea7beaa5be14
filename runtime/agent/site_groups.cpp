#include "runtime/agent/site_groups.h"

#include <cstdint>
#include <map>
#include <numeric>
#include <set>

namespace dvm::runtime {

SiteGroups::SiteGroups(std::vector<AgentSite>& sites) : sites_(sites), parents_(sites.size()) {
  std::iota(parents_.begin(), parents_.end(), size_t{0});
  std::map<uint64_t, size_t> of_function;
  std::map<uint32_t, size_t> of_probe;
  const auto join = [&](size_t site, auto& known, auto key) {
    const auto [first, is_new] = known.try_emplace(key, site);
    if (!is_new) parents_[root(site)] = root(first->second);
  };
  for (size_t i = 0; i < sites.size(); i++) {
    if (sites[i].function != 0) join(i, of_function, sites[i].function);
    for (const AgentFirer& firer : sites[i].firers) join(i, of_probe, firer.probe);
  }
}

size_t SiteGroups::root(size_t site) const {
  while (parents_[site] != site) site = parents_[site];
  return site;
}

void SiteGroups::refuse_together() {
  std::set<size_t> refused;
  for (const AgentSite& site : sites_)
    if (!site.refusal.empty()) refused.insert(of(site));
  for (AgentSite& site : sites_)
    if (site.refusal.empty() && refused.contains(of(site))) site.refusal = kNotAlone;
}

}  // namespace dvm::runtime
