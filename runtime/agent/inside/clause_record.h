#pragma once
// The values in front of a record by which dvm runs the actions of one clause. Part of fire.cpp.

#include "runtime/agent/inside/clause_steps.h"

namespace dvm::runtime::inside {

// Null: the record is of all clauses, and has no values.
[[gnu::always_inline]] inline uint32_t value_bytes(const ClauseRecord* clause) {
  return clause == nullptr ? 0 : static_cast<uint32_t>(sizeof(ClauseRecordHead) + clause->count * sizeof(uint64_t));
}

[[gnu::noinline]] inline void write_values(const ClauseRecord& clause, const Workspace& workspace, uint64_t to) {
  *reinterpret_cast<ClauseRecordHead*>(to) = {clause.number};
  auto* words = reinterpret_cast<volatile uint64_t*>(to + sizeof(ClauseRecordHead));
  for (uint32_t i = 0; i < clause.count; i++) {
    const uint8_t value = clause.values[i];
    if (value < kMostVariables)
      words[i] = workspace.variables[value];
    else if (value < kTimeValue)
      words[i] = workspace.locals[value - kMostVariables];
    else if (value == kEarlierValue || value == kSeenValue)
      words[i] = value == kEarlierValue ? workspace.earlier : workspace.seen;
    else
      words[i] = value == kTimeValue ? workspace.time : workspace.unreadable;
  }
}

// Behind a step that fails: leads to the record of its clause. False: the clause has none.
[[gnu::always_inline]] inline bool leave_to_record(const ClauseStep*& step, Workspace& workspace) {
  if (step->kind == ClauseStep::Kind::predicate || step->skip == 0) return false;
  step += step->skip - 1;
  workspace.failed = 1;
  return true;
}

}  // namespace dvm::runtime::inside
