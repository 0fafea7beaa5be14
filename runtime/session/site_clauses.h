#pragma once
// The clauses that may run where their probes fire, by what they do. The instrument decides by their DIF whether they can.

#include <optional>

#include "dvm/dif/option.h"
#include "runtime/enabling/enabling.h"
#include "runtime/instrument/site_clause.h"

namespace dvm::runtime {

class SiteClauses {
 public:
  SiteClauses(const Enabling& enabling, const dif::Options& options);
  // Of a probe whose only clause is one. Its only action aggregates an integer, by keys that are integers.
  std::optional<SiteClause> clause_of(const ProbeEcbs& probe) const;

 private:
  const Enabling& enabling_;
  bool are_allowed_;  // no firing ends the run, or is left out by its CPU: that is known in dvm only
};

}  // namespace dvm::runtime
