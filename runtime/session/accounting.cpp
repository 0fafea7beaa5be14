// Tested by tests/unit/runtime/account_test.cpp.

#include "runtime/session/accounting.h"

#include <x86intrin.h>

#include <algorithm>
#include <utility>

#include "common/clock.h"
#include "dvm/vm/operands.h"

namespace dvm::runtime {
namespace {

std::string_view name_of(dif::Action kind) {
  if (const dif::AggregationInfo* info = dif::find_aggregation(kind)) return info->name;
  const dif::ActionInfo* info = dif::find_action(kind);
  return info ? info->name : "unknown";
}

void add_tally(std::vector<std::pair<std::string, vm::Tally>>& into, std::string_view name, const vm::Tally& tally) {
  auto same = std::find_if(into.begin(), into.end(), [&](const auto& entry) { return entry.first == name; });
  if (same == into.end()) same = into.insert(into.end(), {std::string(name), {}});
  same->second += tally;
  if (static_cast<int64_t>(same->second.ticks) < 0) same->second.ticks = 0;  // less than the clock can tell
}

// Adds what the action keeps. The bytes of its strings and structures were counted together.
void add_kept(EcbAccount& into, const ActionPlan& action, const ActionTally& tally) {
  const bool aggregates = dif::find_aggregation(action.kind) != nullptr;
  if (!aggregates && action.kind == dif::Action::expression) return;
  if (action.key_count > 0) into.keyed += tally.count;
  KeptValues& kept = aggregates ? into.keys : into.recorded;
  uint64_t bytes = tally.bytes;
  for (size_t i = 0; i < (aggregates ? action.key_count : action.values.size()); i++) {
    const ValuePlan& value = action.values[i];
    if (value.made_by != dif::Action::expression || value.type.kind == dif::TypeKind::none) continue;
    (value.type.by_ref() ? kept.strings : kept.integers) += tally.count;
    if (value.type.by_ref()) kept.bytes += std::exchange(bytes, 0);
    const vm::StringOperand text = vm::result_text(action.desc->args[i].difo);
    if (value.type.kind == dif::TypeKind::string && text.place != vm::StringPlace::literal)
      into.found[static_cast<size_t>(text.place)] += tally.count;
  }
}

}  // namespace

void Accounting::start() {
  first_tick_ = __rdtsc();
  first_time_ = read_clock(CLOCK_MONOTONIC_RAW);
}

Account Accounting::summary() const {
  Account account;
  const MonotonicTime elapsed = read_clock(CLOCK_MONOTONIC_RAW) - first_time_;
  if (elapsed > 0) account.ticks_per_second = static_cast<double>(__rdtsc() - first_tick_) * 1e9 / static_cast<double>(elapsed);
  Stages stages = stages_;
  for (const auto& backend : backends_) {
    for (const ContextAccount& context : backend->accounts()) stages += *context.stages;
    const FiringCounts counts = backend->counts();
    account.events += counts.firings;
    account.late_reads += counts.late_reads;
    account.live_dynamic += counts.live_dynamic;
    if (const Replays* replays = backend->abilities().replays) account.reading_ns += replays->reading_ns();
  }
  for (const StageInfo& info : kStages) add_tally(account.stages, info.name, stages[info.id]);
  return account;
}

void Accounting::add_steps(Account& account) const {
  for (size_t i = 0; i < kConsumerSteps; i++)
    if (const vm::Tally& tally = consumed_.of(static_cast<ConsumerStep>(i)); tally.count != 0)
      add_tally(account.consumer, kConsumerStepNames[i], tally);
}

// Takes the counts of the DIFO with this number.
void Accounting::take_counts(const ValueCode& value, size_t number, std::span<vm::OpCost> costs, DifCounts& into) {
  if (number >= into.instructions.size()) into.instructions.resize(number + 1);
  const auto take = [&](const vm::PreparedDifo* difo, uint32_t begin) {
    if (difo) difo->take_counts(costs.subspan(begin, difo->cost_count()), into.rows, into.instructions[number]);
  };
  take(value.difo, value.costs);
  take(value.timed, value.timed_costs);
}

void Accounting::take_counts(const EcbCode& code, std::span<vm::OpCost> costs, DifCounts& into) {
  size_t number = 0;
  if (code.predicate) take_counts(*code.predicate, number++, costs, into);
  for (const ActionCode& action : code.actions)
    for (const ValueCode& value : action.values) take_counts(value, number++, costs, into);
}

// Its counters in all contexts. Those of DIF are added to counts_; contexts that run other code than the enabling's have none.
EcbTallies Accounting::take_tallies(const Ecb& ecb, std::span<const ContextAccount> contexts) {
  EcbTallies all(*ecb.code);
  for (const ContextAccount& context : contexts) {
    if (context.tallies.size() < ecb.epid) continue;
    EcbTallies& its = context.tallies[ecb.epid - 1];
    if (!its.costs.empty()) take_counts(*ecb.code, its.costs, counts_[ecb.epid - 1]);
    all += its;
  }
  return all;
}

EcbAccount Accounting::account_of(const Ecb& ecb, const EcbTallies& tallies) const {
  const DifCounts& counts = counts_[ecb.epid - 1];
  EcbAccount row;
  row.epid = ecb.epid, row.probe_id = ecb.probe->id, row.probe = ecb.probe, row.clause = ecb.plan->desc.position;
  row.firings = tallies.firings;
  row.engine = ecb.code->engine;
  row.predicate_hits = tallies.predicate_hits, row.faults = tallies.faults;
  for (size_t i = 0; i < tallies.actions.size(); i++) {
    const ActionTally& tally = tallies.actions[i];
    add_tally(row.actions, name_of(ecb.plan->actions[i].kind), {tally.count, tally.timed, tally.ticks, tally.bytes});
    add_kept(row, ecb.plan->actions[i], tally);
  }
  row.counts = counts.rows, row.instructions = counts.instructions;
  if (ecb.plan->record_size != 0 && !ecb.plan->speculates)
    row.records = row.predicate_hits - std::min(row.predicate_hits, row.faults);
  return row;
}

void Accounting::add_clauses(Account& account) {
  counts_.resize(enabling_.ecbs().size());
  std::vector<ContextAccount> contexts;
  for (const auto& backend : backends_)
    for (const ContextAccount& context : backend->accounts()) contexts.push_back(context);
  for (const Ecb& ecb : enabling_.ecbs())
    if (const EcbTallies tallies = take_tallies(ecb, contexts); tallies.firings != 0)
      account.ecbs.push_back(account_of(ecb, tallies));
}

}  // namespace dvm::runtime
