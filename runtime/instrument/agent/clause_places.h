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
  // Notes the probes of one of their sites. reasons: why clauses run in dvm. True if clauses of any probe run in the thread.
  bool note(const AgentSite& site, std::span<const Probe* const> probes, std::span<const InDvm> reasons);
  // Makes the clauses of a probe run in dvm, because they share something with clauses that run there.
  void leave_to_dvm(const Probe* probe, InDvm reason) {
    if (in_thread_.erase(probe) != 0) in_dvm_[probe] = reason;
  }
  std::string_view way(const Probe& probe) const;
  std::string_view in_dvm(const Probe& probe) const;

 private:
  bool note(const AgentFirer& firer, const Probe* probe, InDvm reason);

  std::unordered_set<const Probe*> in_thread_;  // probes whose clauses run in the thread, except those in in_dvm_
  std::unordered_set<const Probe*> gated_;      // probes whose predicates run in the thread
  std::map<const Probe*, InDvm> in_dvm_;
};

}  // namespace dvm::runtime
