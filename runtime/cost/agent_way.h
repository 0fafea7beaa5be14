#pragma once
// How an agent (runtime/instrument/agent) runs the clauses of a probe, as far as prices depend on it.

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/cost/rows.h"
#include "runtime/instrument/capture_needs.h"

namespace dvm::runtime {

// A use of a row. things: the number of units of its price n.
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
  unsigned strings = 0;                // string keys that may have to be copied, because their memory may change
  std::optional<LeftRecord> record{};  // the record that it leaves if the predicate is true
};

struct AgentWay {
  Row stub = "agent/stub/entry"_row;
  // True: clauses run in the thread, except those with a record of their own. False: dvm runs all clauses from one record.
  bool is_at_site = false;
  std::string_view reason;  // why dvm runs a clause; a literal
  // Bytes of a record in the lane, and of the stack in it. 0: the stack is walked by frame pointers.
  double record_bytes = 0;
  uint32_t stack_bytes = 0;
  bool is_gated = false;   // the firing ends at once if all predicates are false
  bool is_common = false;  // the work is done by the code that all sites share

  bool takes_lane = true;  // false: a single count or assignment, which does not lock the lane
  // The clauses at the site. With one record for all clauses: their predicates, if is_gated.
  std::vector<SiteUses> clauses;
  // The share of the probes that an agent takes, and why it does not take one of the others (a literal).
  double share = 1;
  std::string_view refusal;
};

// True if some clause has a record of its own.
inline bool has_records(const AgentWay& way) {
  return std::any_of(way.clauses.begin(), way.clauses.end(), [](const SiteUses& one) { return one.record.has_value(); });
}

// By probe description, as text.
using AgentWays = std::map<std::string, AgentWay>;

}  // namespace dvm::runtime
