// Tested by tests/unit/instrument/site_run_test.cpp.

#include "runtime/agent/site_needs.h"

#include <algorithm>
#include <utility>

#include "runtime/agent/inside/aggregate.h"
#include "runtime/agent/inside/clause_record.h"
#include "runtime/agent/target_check.h"

namespace dvm::runtime {
namespace {

using Kind = inside::ClauseStep::Kind;

constexpr uint8_t kFlags = 18;  // of the words of struct pt_regs

bool may_fail(const AgentKey& key) { return key.code.may_fail || (!is_integer(key) && !is_stack(key) && !is_text(key)); }
bool may_fail(const AgentStep& step) {
  const AgentClause& its = step.aggregation;
  return step.code.may_fail || its.value.may_fail ||
         std::any_of(its.keys.begin(), its.keys.end(), [](const AgentKey& one) { return may_fail(one); });
}

bool is_plain_count(const AgentStep& step) {
  return step.step.kind == Kind::aggregate && inside::is_plain_count(step.aggregation.clause);
}

// Those of the only clause of the site; none: there are more clauses, or its predicate is no gate.
std::span<const AgentStep> steps_behind_gate(std::span<const AgentFirer> firers) {
  if (firers.size() != 1 || firers[0].tail != inside::Tail::nothing) return {};
  const std::span steps(firers[0].steps);
  const bool has_gate = gates_of(firers).size() == 1;
  const auto is_predicate = [](const AgentStep& one) { return one.step.kind == Kind::predicate; };
  const auto its = steps.subspan(has_gate ? 1 : 0);
  return std::any_of(its.begin(), its.end(), is_predicate) ? std::span<const AgentStep>() : its;
}

bool has_effect(const AgentStep& step) {
  return step.step.kind == Kind::aggregate || is_clause_record(step) || step.code.variable_stores != 0 ||
         step.code.global_stores != 0;
}

bool reads_registers_only(const MachineCode& code) {
  return !code.has_workspace && code.time_reads == 0 && code.variable_loads == 0 && code.variable_stores == 0;
}

// Null: not known.
const MachineCode* first_code(const AgentStep& step) {
  if (step.step.kind == Kind::evaluate || step.step.kind == Kind::predicate) return &step.code;
  const AgentClause& its = step.aggregation;
  return step.step.kind == Kind::aggregate && its.keys.empty() && how_found(its) == StateFound::here ? &its.value : nullptr;
}

// may_leave: agent_enter can begin the firing anew.
bool can_run(const AgentStep& step, bool may_leave) {
  if (has_text(step)) return false;
  if (is_record(step) || is_fault_record(step)) return true;
  if (is_clause_record(step)) return record_of(step.record).has_value();
  if (may_fail(step) && !may_leave) return false;
  if (step.step.kind != Kind::aggregate) return SiteFrame::can_hold(step.code.reads);
  const Needs needs = needs_of(step.aggregation);
  return SiteFrame::can_hold(needs.reads | needs.value_reads);
}

}  // namespace

Needs needs_of(const AgentClause& aggregation, bool has_time) {
  if (how_found(aggregation) == StateFound::plain) return {};
  const uint32_t here =
      kRcx | kRdx | (is_updated_here(aggregation.clause) ? 0 : kRdi | kRsi) | (aggregation.keys.empty() ? 0 : kR8);
  Needs needs{0, how_found(aggregation) == StateFound::here ? here : kCallRegisters};
  if (!aggregation.value.empty()) needs.add(aggregation.value, has_time);
  for (const AgentKey& key : aggregation.keys) {
    if (!key.code.empty()) needs.add(key.code);
    if (!is_integer(key)) needs.changes |= kR8;
    if (is_stack(key))
      needs.reads |= word_bit(inside::kFrameWord) | word_bit(inside::kCounterWord) | word_bit(inside::kStackWord);
  }
  return needs;
}

bool is_updated_here(const inside::ThreadAggregation& clause) {
  using inside::SiteFunction;
  const auto function = static_cast<SiteFunction>(clause.function);
  if (function == SiteFunction::quantize) return counts_leading_zeros();
  return function == SiteFunction::count || function == SiteFunction::sum;
}

bool keeps_rcx(const AgentClause& aggregation) {
  const StateFound how = how_found(aggregation);
  return how == StateFound::plain || (how == StateFound::here && aggregation.keys.empty() &&
                                      is_updated_here(aggregation.clause) && (aggregation.value.changes & kRcx) == 0);
}

StateFound how_found(const AgentClause& aggregation) {
  const auto& keys = aggregation.keys;
  if (inside::is_plain_count(aggregation.clause)) return StateFound::plain;
  if (aggregation.clause.function >= inside::kUpdateFunctions) return StateFound::elsewhere;
  if (std::all_of(keys.begin(), keys.end(), is_integer)) return StateFound::here;
  // What has found the state may have made it, so no value may fail then.
  return is_integer(keys.back()) || aggregation.value.may_fail ? StateFound::elsewhere : StateFound::by_call;
}

std::optional<PlainRecord> record_of(const AgentFirer& firer) {
  auto record = firer.larger_program.empty() ? plain_record(firer.program) : std::nullopt;
  return record && SiteFrame::can_hold(record->reads) ? std::move(record) : std::nullopt;
}

std::optional<PlainRecord> record_of(const AgentClauseRecord& clause) {
  auto record = clause.larger_program.empty() ? plain_record(clause.program) : std::nullopt;
  if (!record || !SiteFrame::can_hold(record->reads) || inside::has_text(clause.record)) return {};
  record->before = inside::value_bytes(&clause.record);
  record->length += record->before;
  record->is_seen = clause.record.is_seen != 0;
  return record;
}

bool has_clause_record(const AgentFirer& firer) { return std::any_of(firer.steps.begin(), firer.steps.end(), is_clause_record); }

bool record_flags(std::span<const AgentFirer> firers) {
  const auto has_them = [](const std::vector<std::byte>& program) {
    const auto steps = steps_of(program);
    return std::any_of(steps.begin(), steps.end(),
                       [](const auto& one) { return one.kind == inside::RecordStep::Kind::saved && one.base == kFlags; });
  };
  const auto of_clause = [&](const AgentStep& one) {
    return has_them(one.record.program) || has_them(one.record.larger_program);
  };
  return std::any_of(firers.begin(), firers.end(), [&](const AgentFirer& one) {
    return has_them(one.program) || has_them(one.larger_program) || std::any_of(one.steps.begin(), one.steps.end(), of_clause);
  });
}

bool may_record(const AgentFirer& firer) {
  if (firer.tail == inside::Tail::leaves) return false;
  return firer.steps.empty() || std::any_of(firer.steps.begin(), firer.steps.end(), is_record);
}

bool counts_plainly(const AgentFirer& firer) { return std::any_of(firer.steps.begin(), firer.steps.end(), is_plain_count); }

bool has_entries(const AgentFirer& firer) {
  return std::any_of(firer.steps.begin(), firer.steps.end(),
                     [](const AgentStep& one) { return one.step.kind == Kind::aggregate && !is_plain_count(one); });
}

bool only_counts(std::span<const AgentFirer> firers) {
  const auto its = steps_behind_gate(firers);
  return its.size() == 1 && is_plain_count(its[0]);
}

bool only_assigns(std::span<const AgentFirer> firers) {
  const auto its = steps_behind_gate(firers);
  if (its.empty() || its.size() > 2 || (its.size() == 2 && !is_time(its[0]))) return false;
  const MachineCode& code = its.back().code;
  return its.back().step.kind == Kind::evaluate && code.variable_loads == 0 && code.variable_stores == 1 && !code.may_fail;
}

TimeKnown knows_time(const AgentFirer& firer, size_t step) {
  // The end of the steps that are left out with this one.
  const auto end_with = [&](size_t at) {
    size_t end = firer.steps.size();
    for (size_t i = 0; i < at; i++)
      if (const size_t behind = i + 1 + firer.steps[i].step.skip; behind > at) end = std::min(end, behind);
    return end;
  };
  TimeKnown known = TimeKnown::no;
  for (size_t i = 0; i < step; i++)
    if (is_time(firer.steps[i])) known = std::max(known, step < end_with(i) ? TimeKnown::yes : TimeKnown::perhaps);
  return known;
}

bool may_know_time(const AgentFirer& firer) {
  for (size_t i = 0; i < firer.steps.size(); i++)
    if (is_time(firer.steps[i]) && knows_time(firer, i) == TimeKnown::perhaps) return true;
  return false;
}

bool passes_time(const AgentFirer& firer, size_t step) {
  if (!is_time(firer.steps[step]) || step + 1 == firer.steps.size()) return false;
  const MachineCode* next = first_code(firer.steps[step + 1]);
  if (next == nullptr || next->time_bytes == 0) return false;
  uint32_t reads = 0;
  for (const AgentStep& one : firer.steps) {
    if (one.step.kind == Kind::see || is_record(one) || is_clause_record(one)) return false;
    reads += one.code.time_reads + one.aggregation.value.time_reads;
    for (const AgentKey& key : one.aggregation.keys) reads += key.code.time_reads;
  }
  return reads == 1;
}

bool can_run_all(std::span<const AgentFirer> firers) {
  return !firers.empty() && std::all_of(firers.begin(), firers.end(), [&](const AgentFirer& firer) {
    if (may_record(firer) && !record_of(firer)) return false;
    bool may_leave = &firer == firers.data() && firer.tail == inside::Tail::nothing;
    return std::all_of(firer.steps.begin(), firer.steps.end(), [&](const AgentStep& step) {
      const bool is_possible = can_run(step, may_leave);
      may_leave &= !has_effect(step);
      return is_possible;
    });
  });
}

std::vector<const MachineCode*> gates_of(std::span<const AgentFirer> firers) {
  std::vector<const MachineCode*> gates;
  for (const AgentFirer& firer : firers) {
    if (firer.steps.empty() || firer.tail != inside::Tail::nothing) return {};
    for (size_t i = 0; i < firer.steps.size(); i += 1 + firer.steps[i].step.skip) {
      const AgentStep& one = firer.steps[i];
      const bool is_gate = one.step.kind == Kind::predicate && reads_registers_only(one.code);
      if (!is_gate || one.code.empty() || !SiteFrame::can_hold(one.code.reads)) return {};
      gates.push_back(&one.code);
    }
  }
  return gates;
}

}  // namespace dvm::runtime
