#pragma once
// Says for -v where the clauses of an agent's probes run.

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "runtime/agent/agent_site.h"
#include "runtime/instrument/instrument.h"

namespace dvm::runtime {

class ClausePlaces {
 public:
  // Notes the probes of one of their sites. reasons: why clauses run in dvm. by_calls: why memory is read by system calls. True
  // if clauses of any probe run in the thread.
  bool note(const AgentSite& site, std::span<const EnabledProbe* const> probes, std::span<const InDvm> reasons,
            const std::string& by_calls);
  // Makes the clauses of a probe run in dvm, because they share something with clauses that run there.
  void leave_to_dvm(const Probe* probe, InDvm reason) {
    if (in_thread_.erase(probe) != 0) in_dvm_[probe] = reason;
  }
  ClauseWay way(const Probe& probe, unsigned clause) const;

 private:
  bool note(const AgentFirer& firer, const EnabledProbe& enabled, InDvm reason);
  ClauseWay place(const Probe& probe, unsigned clause) const;

  std::unordered_set<const Probe*> in_thread_;  // probes whose clauses run in the thread, except those in recorded_
  std::unordered_set<const Probe*> gated_;      // probes whose predicates run in the thread
  std::map<const Probe*, InDvm> in_dvm_;
  std::map<const Probe*, std::string> by_calls_;          // why memory is read by system calls, if it is
  mutable std::set<std::string> texts_;                   // those of ways
  std::set<std::pair<const Probe*, unsigned>> recorded_;  // clauses that dvm runs, from records of their own
};

}  // namespace dvm::runtime
