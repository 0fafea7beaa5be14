#pragma once
// The values in front of a record by which dvm runs the actions of one clause. Part of fire.cpp.

#include "runtime/agent/inside/clause_steps.h"
#include "runtime/agent/inside/texts.h"

namespace dvm::runtime::inside {

// Bytes of the head and the values, without strings. Null: the record is for all clauses, and has no values.
[[gnu::always_inline]] inline uint32_t value_bytes(const ClauseRecord* clause) {
  return clause == nullptr ? 0 : static_cast<uint32_t>(sizeof(ClauseRecordHead) + clause->count * sizeof(uint64_t));
}

[[gnu::always_inline]] inline bool has_text(const ClauseRecord& clause) {
  for (uint32_t i = 0; i < clause.count; i++)
    if (clause.values[i] >= kTextValue) return true;
  return false;
}

// The same with the longest strings.
[[gnu::always_inline]] inline uint32_t most_value_bytes(const ClauseRecord* clause) {
  uint32_t bytes = value_bytes(clause);
  for (uint32_t i = 0; clause != nullptr && i < clause->count; i++)
    if (clause->values[i] >= kTextValue) bytes += kTextWords * sizeof(uint64_t);
  return bytes;
}

// Returns how many bytes were written.
[[gnu::noinline]] inline uint32_t write_values(const Context& context, const ClauseRecord& clause, const Workspace& workspace,
                                               uint64_t to) {
  *reinterpret_cast<ClauseRecordHead*>(to) = {clause.number};
  auto* words = reinterpret_cast<volatile uint64_t*>(to + sizeof(ClauseRecordHead));
  uint32_t bytes = value_bytes(&clause);
  for (uint32_t i = 0; i < clause.count; i++) {
    const uint8_t value = clause.values[i];
    if (value >= kTextValue) {
      auto* text = reinterpret_cast<uint64_t*>(to + bytes);
      const uint32_t variable = value - kTextValue;
      const bool is_there = workspace.variables[variable] != 0;
      const uint32_t count = is_there ? read_own_text(context, workspace.lane, variable, text, kMostTextBytes) : 0;
      words[i] = count;
      bytes += count * static_cast<uint32_t>(sizeof(uint64_t));
    } else if (value < kMostVariables) {
      words[i] = workspace.variables[value];
    } else if (value < kTimeValue) {
      words[i] = workspace.locals[value - kMostVariables];
    } else if (value == kEarlierValue || value == kSeenValue) {
      words[i] = value == kEarlierValue ? workspace.earlier : workspace.seen;
    } else {
      words[i] = value == kTimeValue ? workspace.time : workspace.unreadable;
    }
  }
  return bytes;
}

// After a step has failed, goes to the fault_record of its clause. False: the clause has none.
[[gnu::always_inline]] inline bool leave_to_record(const ClauseStep*& step, Workspace& workspace) {
  if (step->kind == ClauseStep::Kind::predicate || step->skip == 0) return false;
  step += step->skip - 1;
  workspace.failed = 1;
  return true;
}

}  // namespace dvm::runtime::inside
