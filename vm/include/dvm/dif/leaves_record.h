#pragma once
// Records of clauses: what a firing leaves for the consumer.

#include <algorithm>

#include "dvm/dif/action.h"
#include "dvm/dif/program.h"

namespace dvm::dif {

// True if the consumer must see the action: it records a value, or is carried out there.
inline bool leaves_record(const ActDesc& action) {
  const ActionInfo* info = find_action(action.kind);
  return info && info->when != ActionTime::probe;
}

// True if a firing of the clause leaves a record. A clause without actions does: it shows that it fired.
inline bool leaves_record(const EcbDesc& clause) {
  return clause.actions.empty() ||
         std::any_of(clause.actions.begin(), clause.actions.end(), [](const ActDesc& action) { return leaves_record(action); });
}

}  // namespace dvm::dif
