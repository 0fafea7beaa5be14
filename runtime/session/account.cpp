// What a session cost, by clause and stage. Tested by tests/unit/runtime/account_test.cpp.

#include <algorithm>

#include "runtime/session/impl.h"

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

void take_counts(Value& value, vm::Counts& into) {
  value.difo->take_counts(into);
  if (value.timed) value.timed->take_counts(into);
}

}  // namespace

Account Handle::account() {
  Impl& impl = *impl_;
  Account account;
  Clock elapsed = read_clock(CLOCK_MONOTONIC_RAW) - impl.first_time;
  if (elapsed > 0)
    account.ticks_per_second = static_cast<double>(__rdtsc() - impl.first_tick) * 1e9 / static_cast<double>(elapsed);
  account.events = impl.events;
  account.late_reads = impl.host.late_reads();
  if (!impl.accounts()) return account;
  impl.counts.resize(impl.enabling.ecbs().size());
  for (Ecb& ecb : impl.enabling.ecbs()) {
    if (ecb.tallies.firings == 0) continue;
    vm::Counts& counts = impl.counts[ecb.epid - 1];
    EcbAccount row{
        ecb.epid, ecb.probe->id, ecb.desc->position, ecb.tallies.firings, ecb.tallies.predicate_hits, ecb.tallies.faults, {}, {}};
    if (ecb.predicate) take_counts(*ecb.predicate, counts);
    for (Action& action : ecb.actions) {
      for (Value& value : action.values) take_counts(value, counts);
      add_tally(row.actions, name_of(action.kind), {action.tally.count, action.tally.timed, action.tally.ticks, 0});
    }
    row.counts = counts;
    account.ecbs.push_back(std::move(row));
  }
  for (const StageInfo& info : kStages) add_tally(account.stages, info.name, impl.session.stages[info.id]);
  return account;
}

}  // namespace dvm::runtime
