// Covered by tests/unit/runtime/agent_cost_test.cpp.

#include "runtime/cost/agent_cost.h"

namespace dvm::runtime {
namespace {

vm::Cost sum_of(Prices& prices, std::span<const RowUse> uses) {
  vm::Cost sum;
  for (const RowUse& use : uses) sum += prices.of(use.row, use.things);
  return sum;
}

// In firings that come so far.
vm::CostRange behind_gates(const AgentWay& way, double reached, const vm::CostRange& cost) {
  return {way.is_gated ? vm::Cost{} : cost.cheapest, cost.expected.times(reached), cost.dearest};
}

vm::Cost lane_cost(Prices& prices, const AgentWay& way) {
  const vm::Cost found = prices.of("agent/lane/find"_row);
  return way.takes_lane ? found + prices.of("agent/lane/take"_row) : found;
}

// What comes before the clauses: stub and gates, and behind these what takes the lane and captures.
AgentCost begin_firing(Prices& prices, const AgentWay& way, double reached, const vm::Cost& lane, const vm::CostRange& captures) {
  vm::Cost stub = prices.of(way.stub), gates;
  if (way.is_common) stub += prices.of("agent/stub/common"_row);
  if (way.is_gated)
    for (const SiteUses& clause : way.clauses) gates += sum_of(prices, clause.predicate);
  AgentCost cost;
  cost.stub = stub + lane.times(reached);
  cost.thread = always(stub + gates);
  vm::CostRange behind = always(lane);
  behind += captures;
  cost.thread += behind_gates(way, reached, behind);
  return cost;
}

// In the dearest firing, all strings are read by system calls.
EcbCost clause_cost(Prices& prices, const AgentWay& way, const SiteUses& uses, const EcbCost& clause) {
  EcbCost cost{clause.has_predicate, clause.probability, always(sum_of(prices, uses.predicate)),
               always(sum_of(prices, uses.actions)), clause.faults};
  if (uses.strings == 0) return cost;
  const vm::Cost far = prices.of("agent/site/far_string"_row), on_heap = prices.of(heap_string_row(way));
  cost.actions.expected += on_heap.times(uses.copied * (1 - clause.faults)), cost.actions.dearest += far.times(uses.strings);
  return cost;
}

// Adds what a record of its own costs, and what dvm does of the clause.
void add_record(Prices& prices, Prices& dvm, const LeftRecord& record, const EcbCost& clause, const vm::Cost& prepared,
                EcbCost& in_thread, EcbCost& in_dvm) {
  const CaptureCost captured = capture_cost(prices, dvm, record.needs);
  in_thread.actions += always(prices.of("agent/lane/record"_row));
  in_thread.actions += captured.in_thread();
  in_dvm.actions = clause.actions;
  in_dvm.actions += always(prices.of("agent/lane/read"_row, record.bytes) + captured.dvm + prepared);
}

// Adds what a string that cannot be read costs, for which dvm runs the clause, and updates without room.
void add_rare(Prices& prices, const SiteUses& uses, const EcbCost& clause, const vm::Cost& prepared, EcbCost& in_thread,
              EcbCost& in_dvm) {
  const auto add = [](vm::CostRange& to, const vm::Cost& cost, double share) { to += {{}, cost.times(share), cost}; };
  if (uses.fault_bytes > 0) {
    add(in_thread.actions, prices.of("agent/site/fault"_row), clause.faults);
    const vm::Cost run = clause.actions.expected + clause.error.times(1 - clause.faults);
    add(in_dvm.actions, prices.of("agent/lane/read"_row, uses.fault_bytes) + prepared + run, clause.faults);
  }
  if (const KeyedUpdates& updates = uses.updates; updates.count > 0) {
    const double bytes = updates.record_bytes / updates.count;
    add(in_thread.actions, prices.of("agent/lane/update"_row).times(updates.count), updates.share);
    add(in_dvm.actions, (prices.of("agent/lane/read"_row, bytes) + prices.of("agent/lane/add"_row)).times(updates.count),
        updates.share);
  }
}

// The clauses behind the gates.
vm::CostRange sum_of(const AgentWay& way, double reached, std::vector<EcbCost> clauses) {
  for (EcbCost& clause : clauses) clause.predicate = behind_gates(way, reached, clause.predicate);
  return firing_cost({}, clauses);
}

}  // namespace

double records_of(const SiteUses& uses, const EcbCost& clause) {
  return clause.probability *
         (uses.record ? 1 : clause.faults * (uses.fault_bytes > 0) + uses.updates.count * uses.updates.share);
}

double reached(const AgentWay& way, std::span<const EcbCost> clauses) {
  double none = way.is_gated ? 1 : 0;
  for (const EcbCost& clause : clauses) none *= 1 - clause.probability;
  return 1 - none;
}

AgentCost cost_at_site(Prices& prices, Prices& dvm, const AgentWay& way, std::span<const EcbCost> clauses,
                       std::span<const vm::Cost> prepared) {
  const double share = reached(way, clauses);
  AgentCost cost = begin_firing(prices, way, share, lane_cost(prices, way), {});
  for (size_t i = 0; i < clauses.size() && i < way.clauses.size(); i++) {
    EcbCost& in_thread = cost.clauses.emplace_back(clause_cost(prices, way, way.clauses[i], clauses[i]));
    EcbCost& in_dvm = cost.in_dvm.emplace_back(EcbCost{clauses[i].has_predicate, clauses[i].probability, {}, {}, 0});
    const vm::Cost before = i < prepared.size() ? prepared[i] : vm::Cost{};
    add_rare(prices, way.clauses[i], clauses[i], before, in_thread, in_dvm);
    if (const auto& record = way.clauses[i].record) add_record(prices, dvm, *record, clauses[i], before, in_thread, in_dvm);
  }
  cost.thread += sum_of(way, share, cost.clauses);
  cost.dvm = sum_of(way, share, cost.in_dvm);
  return cost;
}

AgentCost cost_by_record(Prices& prices, const AgentWay& way, std::span<const EcbCost> clauses, const CaptureCost& captured,
                         const vm::Cost& prepare) {
  const double share = reached(way, clauses);
  const vm::Cost record = lane_cost(prices, way) + prices.of("agent/lane/record"_row);
  AgentCost cost = begin_firing(prices, way, share, record, captured.in_thread());
  const vm::Cost read = prices.of("agent/lane/read"_row, way.record_bytes);
  cost.dvm = behind_gates(way, share, always(read + captured.dvm + prepare));
  cost.dvm += sum_of(way, share, {clauses.begin(), clauses.end()});
  return cost;
}

}  // namespace dvm::runtime
