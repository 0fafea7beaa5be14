// Tested by tests/runtime/scenarios/test_agent.py.

#include "runtime/session/site_clauses.h"

#include <algorithm>
#include <variant>

namespace dvm::runtime {
namespace {

bool may_end_run(const Ecb& ecb) {
  const bool is_timer = std::holds_alternative<TimerSite>(ecb.probe->site) || ecb.probe->name == "END";
  return !is_timer && std::any_of(ecb.plan->actions.begin(), ecb.plan->actions.end(),
                                  [](const ActionPlan& action) { return action.kind == dif::Action::exit; });
}

// An integer, or an expression that is only evaluated.
bool may_be_at_site(const ValuePlan& value) {
  const bool has_integer = value.type.kind == dif::TypeKind::integer || value.type.kind == dif::TypeKind::none;
  return has_integer && value.made_by == dif::Action::expression;
}

bool may_be_key(const ValuePlan& value) {
  const bool is_text = value.type.kind == dif::TypeKind::string && value.made_by == dif::Action::expression;
  return may_be_at_site(value) || (is_text && !value.may_be_null);
}

}  // namespace

SiteClauses::SiteClauses(const Enabling& enabling, const dif::Options& options)
    : enabling_(enabling),
      are_allowed_(options[dif::Option::cpu] < 0 && std::none_of(enabling.ecbs().begin(), enabling.ecbs().end(), may_end_run)) {}

std::vector<SiteClause> SiteClauses::clauses_of(const ProbeEcbs& probe) const {
  std::vector<SiteClause> all;
  for (const Ecb* ecb : probe.ecbs) all.push_back(clause_of(*ecb->plan));
  return all;
}

SiteClause SiteClauses::clause_of(const EcbPlan& plan) const {
  SiteClause made;
  if (plan.predicate) made.predicate = SiteValue{&plan.difos.front().difo(), plan.predicate->type};
  made.needs_dvm = !add_actions(plan, made);
  if (made.needs_dvm) made.actions.clear();
  return made;
}

bool SiteClauses::add_actions(const EcbPlan& plan, SiteClause& made) const {
  if (!are_allowed_ || plan.actions.empty() || plan.record_size != 0 || plan.speculates) return false;
  size_t difo = plan.predicate ? 1 : 0;
  const auto value = [&](const ValuePlan& its) { return SiteValue{&plan.difos[difo++].difo(), its.type}; };
  for (const ActionPlan& action : plan.actions) {
    const auto values = action.values.begin() + action.key_count;
    if (!std::all_of(action.values.begin(), values, may_be_key) || !std::all_of(values, action.values.end(), may_be_at_site))
      return false;
    if (action.kind == dif::Action::expression) {
      made.actions.emplace_back(value(action.values.front()));
      continue;
    }
    const Aggregation* aggregation = enabling_.aggregation(action.aggregation);
    const size_t arguments = action.values.size() - action.key_count;
    if (aggregation == nullptr || arguments > 1) return false;
    SiteAggregation its;
    for (unsigned i = 0; i < action.key_count; i++) its.keys.push_back(value(action.values[i]));
    if (arguments == 1) its.value = value(action.values.back());
    its.function = action.kind;
    its.aggregation = action.aggregation;
    its.words = aggregation->words;
    its.initial = aggregation->function->initial;
    its.strsize = static_cast<uint32_t>(plan.strsize);
    made.actions.emplace_back(std::move(its));
  }
  return true;
}

}  // namespace dvm::runtime
