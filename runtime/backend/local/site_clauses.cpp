// Tested by tests/runtime/scenarios/test_agent.py.

#include "runtime/backend/local/site_clauses.h"

#include <algorithm>
#include <cstdint>
#include <variant>

namespace dvm::runtime {
namespace {

bool may_end_run(const Ecb& ecb) {
  const bool is_timer = std::holds_alternative<TimerSite>(ecb.probe->site) || ecb.probe->name == "END";
  return !is_timer && std::any_of(ecb.plan->actions.begin(), ecb.plan->actions.end(),
                                  [](const ActionPlan& action) { return action.kind == dif::Action::exit; });
}

std::set<uint16_t> thread_variables_of(const EcbPlan& plan) {
  std::set<uint16_t> all;
  for (const vm::VerifiedDifo& difo : plan.difos)
    for (const dif::Variable& variable : difo.difo().variables)
      if (variable.scope == dif::Scope::thread) all.insert(variable.id);
  return all;
}

// No integer, nor an expression that is only evaluated.
bool needs_dvm(const ValuePlan& value) {
  const bool has_integer = value.type.kind == dif::TypeKind::integer || value.type.kind == dif::TypeKind::none;
  return !has_integer || value.made_by != dif::Action::expression;
}

InDvm reason_of(const Enabling& enabling, const dif::Options& options) {
  if (options[dif::Option::cpu] >= 0 || options[dif::Option::aggpercpu] > 0) return InDvm::cpu;
  return std::any_of(enabling.ecbs().begin(), enabling.ecbs().end(), may_end_run) ? InDvm::exits : InDvm::nothing;
}

bool is_own_stack(const ValuePlan& value) { return value.made_by == dif::Action::ustack && !value.is_kept; }

bool is_no_key(const ValuePlan& value) {
  if (is_own_stack(value)) return false;
  const bool is_text = value.type.kind == dif::TypeKind::string && value.made_by == dif::Action::expression;
  return needs_dvm(value) && (!is_text || value.may_be_null);
}

}  // namespace

SiteClauses::SiteClauses(const Enabling& enabling, const dif::Options& options)
    : enabling_(enabling), of_script_(reason_of(enabling, options)) {
  find_variables_in_dvm();
}

bool SiteClauses::has_thread_variables(const ProbeEcbs& probe) {
  return std::any_of(probe.ecbs.begin(), probe.ecbs.end(),
                     [](const Ecb* ecb) { return !thread_variables_of(*ecb->plan).empty(); });
}

// All clauses that use a variable run on one side. Each that is found to run in dvm may take others with it.
void SiteClauses::find_variables_in_dvm() {
  for (size_t before = SIZE_MAX; before != in_dvm_.size();) {
    before = in_dvm_.size();
    for (const ProbeEcbs& probe : enabling_.probes()) {
      if (!has_thread_variables(probe)) continue;
      const bool is_at_site = std::holds_alternative<UprobeSite>(probe.probe->site);
      if (is_at_site && clauses_of(probe).in_dvm == InDvm::nothing) continue;
      for (const Ecb* ecb : probe.ecbs) in_dvm_.merge(thread_variables_of(*ecb->plan));
    }
  }
}

SiteClauseList SiteClauses::clauses_of(const ProbeEcbs& probe) const {
  SiteClauseList made;
  made.in_dvm = of_script_;
  for (const Ecb* ecb : probe.ecbs) {
    const InDvm reason = add(*ecb->plan, made.clauses.emplace_back());
    if (made.in_dvm == InDvm::nothing) made.in_dvm = reason;
  }
  if (made.in_dvm == InDvm::nothing && are_shared(probe)) made.in_dvm = InDvm::shared;
  if (made.in_dvm == InDvm::nothing) return made;
  for (SiteClause& clause : made.clauses) clause.needs_dvm = true, clause.actions.clear();
  return made;
}

bool SiteClauses::are_shared(const ProbeEcbs& probe) const {
  for (const Ecb* ecb : probe.ecbs)
    for (const uint16_t variable : thread_variables_of(*ecb->plan))
      if (in_dvm_.contains(variable)) return true;
  return false;
}

InDvm SiteClauses::add(const EcbPlan& plan, SiteClause& to) const {
  size_t difo = 0;
  const auto value = [&](const ValuePlan& its) {
    return SiteValue{&plan.difos[difo++].difo(), its.type,
                     is_own_stack(its) ? its.size / 8 - 1 : 0};  // its first word is the pid
  };
  if (plan.predicate) {
    to.predicate = value(*plan.predicate);
    to.predicate->type.size = sizeof(uint64_t);  // conditions use all bits
  }
  if (plan.actions.empty() || plan.record_size != 0 || plan.speculates) return InDvm::action;
  for (const ActionPlan& action : plan.actions) {
    const EnabledAggregation* aggregation = enabling_.aggregation(action.aggregation);
    if (action.kind != dif::Action::expression && aggregation == nullptr) return InDvm::action;
    const auto values = action.values.begin() + action.key_count;
    if (std::any_of(action.values.begin(), values, is_no_key) || std::any_of(values, action.values.end(), needs_dvm))
      return InDvm::type;
    if (aggregation == nullptr) {
      to.actions.emplace_back(value(action.values.front()));
      continue;
    }
    const size_t arguments = action.values.size() - action.key_count;
    if (arguments > 1) return InDvm::increment;
    SiteAggregation its;
    for (unsigned i = 0; i < action.key_count; i++) its.keys.push_back(value(action.values[i]));
    if (arguments == 1) its.value = value(action.values.back());
    its.function = action.kind;
    its.aggregation = action.aggregation;
    its.parameters = aggregation->desc.parameters;
    its.words = aggregation->words;
    its.initial = aggregation->function->initial;
    its.strsize = static_cast<uint32_t>(plan.strsize);
    to.actions.emplace_back(std::move(its));
  }
  return InDvm::nothing;
}

}  // namespace dvm::runtime
