#pragma once
// Says for -v where the clauses of an agent's probes run.

#include <map>
#include <span>
#include <string_view>
#include <unordered_set>

#include "runtime/agent/agent_site.h"
#include "runtime/catalog/probe.h"
#include "runtime/instrument/in_dvm.h"

namespace dvm::runtime {

class ClausePlaces {
 public:
  // By what the probes do at one of their sites. Returns whether clauses of any run there; reasons: why not, or not all.
  bool note(const AgentSite& site, std::span<const Probe* const> probes, std::span<const InDvm> reasons);
  // Clauses that share something with these run in dvm.
  void leave_to_dvm(const Probe* probe, InDvm reason) {
    if (in_thread_.erase(probe) != 0) in_dvm_[probe] = reason;
  }
  std::string_view way(const Probe& probe) const;
  std::string_view in_dvm(const Probe& probe) const;

 private:
  bool note(const AgentFirer& firer, const Probe* probe, InDvm reason);

  std::unordered_set<const Probe*> in_thread_;  // whose clauses run there, but for those of the last map
  std::unordered_set<const Probe*> gated_;      // whose predicates do
  std::map<const Probe*, InDvm> in_dvm_;
};

}  // namespace dvm::runtime
