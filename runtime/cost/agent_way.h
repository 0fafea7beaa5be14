#pragma once
// How the clauses of a probe run by an agent (runtime/instrument/agent), as far as prices depend on it.

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cost/rows.h"
#include "runtime/instrument/capture_needs.h"

namespace dvm::runtime {

// Some uses of a row; things: each, what it is priced by.
struct RowUse {
  Row row;
  double things = 0;
};

// A record from which dvm runs the actions of one clause.
struct LeftRecord {
  double bytes = 0;  // in the lane
  CaptureNeeds needs;
};

// A clause in the traced thread.
struct SiteUses {
  std::vector<RowUse> predicate, actions;
  unsigned strings = 0;                // keys that may not lie in memory which lasts
  std::optional<LeftRecord> record{};  // if the predicate is true
};

struct AgentWay {
  Row stub = "agent/stub/entry"_row;
  // All clauses run in the thread but for those with a record of their own. Otherwise dvm runs all from one record. The reason
  // why dvm runs any is a literal.
  bool is_at_site = false;
  std::string_view reason;
  // Bytes of a record in the lane, and those of the stack in it. 0: frame pointers lead from frame to frame.
  double record_bytes = 0;
  uint32_t stack_bytes = 0;
  bool is_gated = false;          // nothing else happens if all predicates are false
  bool is_common = false;         // the code of all sites does it, not that of the site
  bool takes_lane = true;         // false: a single count or assignment at its site, which only finds the lane
  std::vector<SiteUses> clauses;  // of a record: the predicates, if is_gated
  // The share of the probes that an agent takes, and why it does not take one of the others (a literal).
  double share = 1;
  std::string_view refusal;
};

// Some clause has a record of its own.
inline bool has_records(const AgentWay& way) {
  return std::any_of(way.clauses.begin(), way.clauses.end(), [](const SiteUses& one) { return one.record.has_value(); });
}

// By the description as text.
using AgentWays = std::map<std::string, AgentWay>;

}  // namespace dvm::runtime
