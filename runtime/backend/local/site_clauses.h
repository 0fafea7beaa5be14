#pragma once
// The clauses that may run where their probes fire, by what they do. The instrument decides by their DIF whether they can.

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "dvm/dif/option.h"
#include "runtime/enabling/enabling.h"
#include "runtime/instrument/in_dvm.h"
#include "runtime/instrument/site_clause.h"

namespace dvm::runtime {

// The clauses of a probe; those that run in dvm are there by their predicates only, and perhaps by how a record is made.
struct SiteClauseList {
  std::vector<SiteClause> clauses;
  InDvm in_dvm = InDvm::nothing;  // why not all can run where the probe fires
  bool may_record = true;         // each can, or has a record of its own
  std::vector<uint16_t> globals;  // variables that they may read there

  // All run in dvm, at each firing.
  void leave_to_dvm();
};

class SiteClauses {
 public:
  SiteClauses(const Enabling& enabling, const dif::Options& options);
  // Of the probe. The actions of those that can run where it fires are expressions, and aggregate integers by keys that are
  // integers or strings.
  SiteClauseList clauses_of(const ProbeEcbs& probe) const;
  // Some that other probes may have as well, or the end of the run: such clauses all run on one side.
  bool has_thread_variables(const ProbeEcbs& probe) const { return !shared_by(probe).empty(); }
  InDvm reason_to_share() const { return ends_at_site_ ? InDvm::exits : InDvm::shared; }

 private:
  void find_variables_in_dvm();
  std::set<uint16_t> shared_by(const ProbeEcbs& probe) const;
  void find_globals();
  std::vector<uint16_t> globals_of(const EcbPlan& plan) const;
  bool are_shared(const ProbeEcbs& probe) const;
  InDvm add(const EcbPlan& plan, SiteClause& to) const;
  std::optional<ClauseRecordPlan> record_of(const Ecb& ecb, const ProbeEcbs& probe) const;

  const Enabling& enabling_;
  uint32_t strsize_;
  InDvm of_script_;             // no clause can
  bool ends_at_site_;           // a clause in a process calls exit()
  std::set<uint16_t> in_dvm_;   // thread-local variables that a clause uses which runs in dvm
  std::set<uint16_t> globals_;  // integers that nothing writes but clauses on BEGIN, END and timers
};

}  // namespace dvm::runtime
