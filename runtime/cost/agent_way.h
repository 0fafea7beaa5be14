#pragma once
// How the clauses of a probe run by an agent (runtime/instrument/agent), as far as prices depend on it.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cost/rows.h"

namespace dvm::runtime {

// Some uses of a row; things: each, what it is priced by.
struct RowUse {
  Row row;
  double things = 0;
};

// A clause in the traced thread.
struct SiteUses {
  std::vector<RowUse> predicate, actions;
  unsigned strings = 0;  // keys that may not lie in memory which lasts
};

struct AgentWay {
  Row stub = "agent/stub/entry"_row;
  bool is_at_site = false;        // all clauses run in the thread; else dvm runs them, from a record
  bool is_gated = false;          // nothing else happens if all predicates are false
  bool is_common = false;         // the code of all sites does it, not that of the site
  double record_bytes = 0;        // in the lane, of a record
  uint32_t stack_bytes = 0;       // copied into a record; 0: frame pointers lead from frame to frame
  std::string_view reason;        // why dvm runs them; a literal
  std::vector<SiteUses> clauses;  // of a record: the predicates, if is_gated
  double share = 1;               // of the probes that an agent takes; others are as without it
  std::string_view refusal;       // why it does not take one of the others; a literal
};

// By the description as text.
using AgentWays = std::map<std::string, AgentWay>;

}  // namespace dvm::runtime
