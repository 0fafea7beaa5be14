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

bool is_integer(const ValuePlan& value) {
  return value.type.kind == dif::TypeKind::integer && value.made_by == dif::Action::expression;
}

}  // namespace

SiteClauses::SiteClauses(const Enabling& enabling, const dif::Options& options)
    : enabling_(enabling),
      are_allowed_(options[dif::Option::cpu] < 0 && std::none_of(enabling.ecbs().begin(), enabling.ecbs().end(), may_end_run)) {}

std::optional<SiteClause> SiteClauses::clause_of(const ProbeEcbs& probe) const {
  if (!are_allowed_ || probe.ecbs.size() != 1) return std::nullopt;
  const EcbPlan& plan = *probe.ecbs.front()->plan;
  if (plan.actions.size() != 1 || plan.record_size != 0 || plan.speculates) return std::nullopt;
  const ActionPlan& action = plan.actions.front();
  const Aggregation* aggregation = enabling_.aggregation(action.aggregation);
  const size_t arguments = action.values.size() - action.key_count;
  if (aggregation == nullptr || arguments > 1 || !std::all_of(action.values.begin(), action.values.end(), is_integer))
    return std::nullopt;
  SiteClause made;
  size_t difo = 0;
  const auto value = [&](const ValuePlan& its) { return SiteValue{&plan.difos[difo++].difo(), its.type}; };
  if (plan.predicate) made.predicate = value(*plan.predicate);
  for (unsigned i = 0; i < action.key_count; i++) made.keys.push_back(value(action.values[i]));
  if (arguments == 1) made.value = value(action.values.back());
  made.function = action.kind;
  made.aggregation = action.aggregation;
  made.words = aggregation->words;
  made.initial = aggregation->function->initial;
  return made;
}

}  // namespace dvm::runtime
