#pragma once
// The registers that the code of a site needs, and whether it can run all that the clauses of the site's probes do.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "runtime/agent/agent_site.h"
#include "runtime/agent/record_code.h"
#include "runtime/agent/site_ability.h"
#include "runtime/agent/site_frame.h"

namespace dvm::runtime {

// The words of registers in struct pt_regs.
inline constexpr uint32_t kRbp = word_bit(4), kRbx = word_bit(5), kR8 = word_bit(9), kRcx = word_bit(11), kRdx = word_bit(12),
                          kRsi = word_bit(13), kRdi = word_bit(14);
inline constexpr uint32_t kCallRegisters = kRdi | kRsi | kRdx | kRcx;  // of agent_aggregate

struct Needs {
  uint32_t reads = 0, changes = 0;
  bool has_workspace = false, may_fail = false;  // values do
  uint32_t value_reads = 0;                      // words that values read

  // has_time: its first instruction is left out (passes_time).
  void add(const MachineCode& value, bool has_time = false) {
    value_reads |= value.reads, changes |= value.changes;
    if (value.has_workspace || (value.time_reads != 0 && !has_time)) has_workspace = true, changes |= kRsi;
    may_fail |= value.may_fail;
  }
  void add(const Needs& other) {
    reads |= other.reads, changes |= other.changes, value_reads |= other.value_reads;
    has_workspace |= other.has_workspace, may_fail |= other.may_fail;
  }
  // When all are added: values read registers where these lie if nothing changes them, else the saved words, by %rdi.
  bool reads_registers() const { return (value_reads & (changes | ~SiteFrame::kReadable)) == 0; }
  void point_to_words() {
    if (!reads_registers()) reads |= value_reads, changes |= kRdi;
  }
};

// The needs of all machine code of an aggregation. has_time: its value is the code to which the time is passed.
Needs needs_of(const AgentClause& aggregation, bool has_time = false);

inline bool is_integer(const AgentKey& key) { return key.key.kind == inside::KeyKind::integer; }
inline bool is_stack(const AgentKey& key) { return key.key.kind == inside::KeyKind::stack; }
inline bool is_text(const AgentKey& key) { return key.key.kind == inside::KeyKind::text; }
// How the state of a key is found, and updated behind that.
//
//   plain      it is a word of the lane
//   here       its key has a known number of words
//   by_call    agent_find makes the last part of the key
//   elsewhere  agent_aggregate finds and updates it
enum class StateFound : uint8_t { plain, here, by_call, elsewhere };
StateFound how_found(const AgentClause& aggregation);
// By code of the site, without a call.
bool is_updated_here(const inside::ThreadAggregation& clause);
// Its code does not change %rcx, or has put the address of the data mapping there again.
bool keeps_rcx(const AgentClause& aggregation);

inline bool is_record(const AgentStep& step) { return step.step.kind == inside::ClauseStep::Kind::record; }
inline bool is_clause_record(const AgentStep& step) { return step.step.kind == inside::ClauseStep::Kind::clause_record; }
inline bool is_fault_record(const AgentStep& step) { return step.step.kind == inside::ClauseStep::Kind::fault_record; }
inline bool is_time(const AgentStep& step) { return step.step.kind == inside::ClauseStep::Kind::time; }
inline bool is_retry(const AgentStep& step) { return step.step.kind == inside::ClauseStep::Kind::retry; }
bool may_record(const AgentFirer& firer);
bool counts_plainly(const AgentFirer& firer);  // in the lane
bool has_entries(const AgentFirer& firer);     // in the arena
// Whether a step before this one has asked for the time: perhaps, if a predicate lies in between.
enum class TimeKnown : uint8_t { no, perhaps, yes };
TimeKnown knows_time(const AgentFirer& firer, size_t step);
bool may_know_time(const AgentFirer& firer);  // a step that asks for it
// The step asks for the time, and only the first instruction of the code of the next one reads it, into %rdx.
bool passes_time(const AgentFirer& firer, size_t step);
// The flags are in a record of some probe.
bool record_flags(std::span<const AgentFirer> firers);
// Nothing: agent_enter makes it.
std::optional<PlainRecord> record_of(const AgentFirer& firer);
std::optional<PlainRecord> record_of(const AgentClauseRecord& clause);
bool has_clause_record(const AgentFirer& firer);

}  // namespace dvm::runtime
