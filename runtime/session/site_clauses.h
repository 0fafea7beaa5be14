#pragma once
// The clauses that may run where their probes fire, by what they do. The instrument decides by their DIF whether they can.

#include <optional>
#include <vector>

#include "dvm/dif/option.h"
#include "runtime/enabling/enabling.h"
#include "runtime/instrument/site_clause.h"

namespace dvm::runtime {

class SiteClauses {
 public:
  SiteClauses(const Enabling& enabling, const dif::Options& options);
  // Of the probe. Of one that needs dvm only the predicate. The others actions are expressions, and aggregate integers by keys
  // that are integers or strings.
  std::vector<SiteClause> clauses_of(const ProbeEcbs& probe) const;

 private:
  SiteClause clause_of(const EcbPlan& plan) const;
  // False: they need dvm.
  bool add_actions(const EcbPlan& plan, SiteClause& made) const;
  const Enabling& enabling_;
  bool are_allowed_;  // no firing ends the run, or is left out by its CPU: that is known in dvm only
};

}  // namespace dvm::runtime
