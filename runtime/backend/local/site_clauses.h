#pragma once
// Finds the clauses whose actions allow them to run where their probes fire. The instrument then decides by their DIF.

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "dvm/dif/option.h"
#include "runtime/enabling/enabling.h"
#include "runtime/instrument/in_dvm.h"
#include "runtime/instrument/known_value.h"
#include "runtime/instrument/site_clause.h"

namespace dvm::runtime {

// The clauses of a probe. A clause that must run in dvm is represented only by its predicate and perhaps the layout of its
// record.
struct SiteClauseList {
  std::vector<SiteClause> clauses;
  InDvm in_dvm = InDvm::nothing;  // why not all can run where the probe fires
  bool may_record = true;         // each clause can run there, or has a record of its own
  std::vector<uint16_t> globals;  // variables that they may use there
  std::vector<uint16_t> other_globals;

  // Makes all clauses run in dvm, at each firing.
  void leave_to_dvm();
};

class SiteClauses {
 public:
  // addresses: thread-local variables whose words may be addresses.
  SiteClauses(const Enabling& enabling, const dif::Options& options, known::Locals addresses = {});
  // The clauses of a probe. To run where it fires, actions must be expressions, or aggregate integers by keys that are integers
  // or strings.
  SiteClauseList clauses_of(const ProbeEcbs& probe) const;
  // True if clauses of the probe use thread-local variables that other probes may use too, or end the run. All such clauses must
  // run on the same side: in the traced threads or in dvm.
  bool has_thread_variables(const ProbeEcbs& probe) const { return !shared_by(probe).empty(); }
  InDvm reason_to_share() const { return ends_at_site_ ? InDvm::exits : InDvm::shared; }

 private:
  void find_variables_in_dvm();
  bool drop_globals_of_dvm();
  bool may_be_in_record(const SiteClause& clause, uint16_t id) const;
  std::set<uint16_t> shared_by(const ProbeEcbs& probe) const;
  void find_globals();
  void find_ahead();
  std::vector<uint16_t> globals_of(const EcbPlan& plan) const;
  bool are_shared(const ProbeEcbs& probe) const;
  std::optional<uint16_t> seen_by(const ProbeEcbs& probe, const SiteClauseList& list) const;
  void add_seen(const ProbeEcbs& probe, SiteClauseList& to) const;
  InDvm add(const EcbPlan& plan, SiteClause& to) const;
  std::optional<ClauseRecordPlan> record_of(const Ecb& ecb, const ProbeEcbs& probe, const CaptureNeeds& needs) const;
  std::optional<ClauseRecordPlan> fault_of(const Ecb& ecb, const ProbeEcbs& probe, const CaptureNeeds& needs) const;

  const Enabling& enabling_;
  known::Locals addresses_;
  uint32_t strsize_;
  InDvm of_script_;  // why no clause of the script can run where it fires

  bool ends_at_site_;           // an in-process clause calls exit()
  std::set<uint16_t> in_dvm_;   // thread-local variables of clauses in dvm
  std::set<uint16_t> globals_;  // integers written only by BEGIN, END and timers
  std::set<uint16_t> kept_;     // integers written in threads
  std::set<uint16_t> ahead_;    // globals of clauses that may not wait for records
};

}  // namespace dvm::runtime
