// Tested by tests/unit/runtime/agent_ways_test.cpp.

#include "runtime/backend/local/single_use.h"

#include <algorithm>

#include "dvm/dif/action.h"
#include "runtime/backend/local/global_uses.h"

namespace dvm::runtime {
namespace {

using dif::Instruction;

bool is_store(Instruction in) { return dif::has_format(in, dif::Format::stv); }
bool stores(const dif::Difo& difo) { return std::any_of(difo.text.begin(), difo.text.end(), is_store); }
bool may_fault(const dif::Difo& difo) {
  return std::any_of(difo.text.begin(), difo.text.end(), [](Instruction in) { return dif::info(in.opcode()).can_fault; });
}
bool reads_time(const EcbPlan& plan) {
  const auto reads = [](Instruction in) { return dif::built_in_of(in) == static_cast<unsigned>(dif::BuiltIn::timestamp); };
  return std::any_of(plan.difos.begin(), plan.difos.end(), [&](const vm::VerifiedDifo& one) {
    return std::any_of(one.difo().text.begin(), one.difo().text.end(), reads);
  });
}

// It loads a variable that the other one stores.
bool depends_on(const dif::Difo& difo, const dif::Difo& other) {
  return std::any_of(difo.text.begin(), difo.text.end(), [&](Instruction load) {
    if (!dif::has_format(load, dif::Format::ldv)) return false;
    return std::any_of(other.text.begin(), other.text.end(), [&](Instruction store) {
      return is_store(store) && store.index() == load.index() &&
             dif::info(store.opcode()).scope == dif::info(load.opcode()).scope;
    });
  });
}

// The DIFO of this number can run with the predicate, before all other ones of the clause.
bool can_run_first(const EcbPlan& plan, size_t number) {
  const dif::Difo& change = plan.difos[number].difo();
  if (std::count_if(change.text.begin(), change.text.end(), is_store) != 1) return false;
  if (plan.predicate && number == 0) return true;
  if (plan.predicate && stores(plan.difos.front().difo())) return false;
  size_t at = plan.predicate ? 1 : 0;
  for (const ActionPlan& action : plan.actions) {
    for (size_t end = at + action.values.size(); at < end; at++) {
      if (at == number) return action.aggregation == 0;
      if (may_fault(plan.difos[at].difo()) || depends_on(change, plan.difos[at].difo())) return false;
    }
    if (!only_records(action)) return false;
  }
  return false;
}

}  // namespace

bool only_records(const ActionPlan& action) {
  if (action.aggregation != 0 || action.kind == dif::Action::expression) return true;
  const dif::ActionInfo* info = dif::find_action(action.kind);
  return info != nullptr && info->keeps != dif::ActionKeeps::nothing && !info->destructive;
}

unsigned global_accesses(const EcbPlan& plan, uint16_t id) {
  unsigned all = 0;
  for (const vm::VerifiedDifo& difo : plan.difos) all += global_accesses(difo.difo(), id);
  return all;
}

std::optional<SingleUse> single_use(const ProbeEcbs& probe, uint16_t id) {
  std::optional<SingleUse> use;
  bool is_time_read = false;
  for (size_t i = 0; i < probe.ecbs.size(); i++) {
    const EcbPlan& plan = *probe.ecbs[i]->plan;
    for (size_t number = 0; number < plan.difos.size(); number++) {
      const dif::Difo& difo = plan.difos[number].difo();
      const bool changes = stores_global(difo, id);
      if (!changes && !loads_global(difo, id)) continue;
      if (!use) use = {.first = i, .reads_time = reads_time(plan) && !is_time_read};
      if (!changes) continue;
      if (use->changing || use->first != i || !can_run_first(plan, number)) return {};
      if (reads_time(plan) && is_time_read) return {};
      use->changing = i, use->change = number;
    }
    is_time_read |= reads_time(plan);
  }
  return use;
}

}  // namespace dvm::runtime
