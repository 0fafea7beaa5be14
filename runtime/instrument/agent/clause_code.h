#pragma once
// Makes the steps of simple clauses, which the traced thread runs (runtime/agent/inside/aggregate.h), with machine code for their
// values. dvm runs all other clauses.

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "runtime/agent/agent_process.h"
#include "runtime/instrument/agent/arena_reader.h"
#include "runtime/instrument/agent/value_code.h"
#include "runtime/instrument/in_dvm.h"
#include "runtime/instrument/site_clause.h"

namespace dvm::runtime {

// The steps of the clauses of a probe.
struct ClauseSteps {
  std::vector<AgentStep> steps{};  // empty: dvm runs the clauses at each firing
  bool runs_all = true;            // false: the steps only leave a record if a predicate is true
  uint16_t locals = 0;             // number of their clause-local variables
  InDvm in_dvm = InDvm::nothing;   // why not all clauses run in the thread

  bool are_in_thread() const { return runs_all && !steps.empty(); }
};

// number_of: returns dvm's number of an aggregation. A key that may be unreadable occurs only in the first step with a side
// effect, so that dvm can run the clauses instead.
using NumberOf = std::function<uint32_t(KnownClause clause)>;
ClauseSteps make_steps(std::span<const SiteClause> clauses, const ClausePlace& place, const NumberOf& number_of);

// The global variables that clauses use and that some of them change. The threads keep these, or else dvm does.
class ChangedGlobals {
 public:
  void note(std::span<const SiteClause> clauses, std::span<const uint16_t> globals);
  void keep_in_threads() { kept_ = {all_.begin(), all_.end()}; }
  void keep_in_dvm() { kept_.clear(); }
  const std::vector<uint16_t>& kept() const { return kept_; }
  bool are_kept(std::span<const uint16_t> globals) const;                    // some of them are
  std::vector<uint16_t> only_read(std::span<const uint16_t> globals) const;  // those that no clause changes

 private:
  std::set<uint16_t> all_;
  std::vector<uint16_t> kept_;
};

}  // namespace dvm::runtime
