// Tested by tests/unit/runtime/enabling_test.cpp.

#include "runtime/probe/prepare.h"

#include <fmt/format.h>

#include "runtime/probe/actions.h"
#include "runtime/probe/body.h"

namespace dvm::runtime {
namespace {

template <class Policy>
RecordAction function_of(const ActionPlan& action) {
  const bool is_keyless_count = action.kind == dif::Action::agg_count && action.values.empty();
  return is_keyless_count ? record_keyless_count<Policy> : record_function<Policy>(action.kind);
}

class Preparer {
 public:
  Preparer(const EcbPlan& plan, const FindLiveAggregation& find, vm::CostPolicy policy, const vm::Engine& engine)
      : plan_(plan), find_(find), policy_(policy), engine_(engine) {}
  EcbCode prepare() &&;

 private:
  ValueCode value(const ValuePlan& planned);
  ActionCode action(const ActionPlan& planned);
  uint32_t add_costs(const vm::PreparedDifo& difo);
  std::unique_ptr<vm::PreparedDifo> prepared(const vm::VerifiedDifo& difo);
  void make_body();

  const EcbPlan& plan_;
  const FindLiveAggregation& find_;
  vm::CostPolicy policy_;
  const vm::Engine& engine_;
  EcbCode code_;
  const bool has_body_ = engine_.prepare_body != nullptr && policy_ != vm::CostPolicy::time;
  bool is_inlined_ = false;  // the DIFO that is prepared is part of the body
};

uint32_t Preparer::add_costs(const vm::PreparedDifo& difo) {
  const uint32_t begin = code_.cost_count;
  code_.cost_count += static_cast<uint32_t>(difo.cost_count());
  return begin;
}

// On the usual engine where the other one has a problem. A DIFO that is part of the body runs by itself in samples only.
std::unique_ptr<vm::PreparedDifo> Preparer::prepared(const vm::VerifiedDifo& difo) {
  if (code_.problem.empty() && !(is_inlined_ && policy_ == vm::CostPolicy::none)) {
    vm::Prepared made = engine_.prepare(difo, policy_);
    if (made.difo) return std::move(made.difo);
    code_.problem = std::move(made.problem);
  }
  return vm::kUsualEngine.prepare(difo, policy_).difo;
}

// Makes the code of the next DIFO of the plan.
ValueCode Preparer::value(const ValuePlan& planned) {
  ValueCode value{planned};
  const vm::VerifiedDifo& verified = plan_.difos[code_.difos.size()];
  value.difo = code_.difos.emplace_back(prepared(verified)).get();
  value.costs = add_costs(*value.difo);
  if (policy_ == vm::CostPolicy::none) return value;
  value.timed = code_.timed.emplace_back(vm::kUsualEngine.prepare(verified, vm::CostPolicy::time).difo).get();
  value.timed_costs = add_costs(*value.timed);
  return value;
}

ActionCode Preparer::action(const ActionPlan& planned) {
  ActionCode action;
  action.kind = planned.kind;
  action.number = static_cast<uint32_t>(code_.actions.size());
  action.key_count = planned.key_count;
  action.run = policy_ == vm::CostPolicy::none ? function_of<Unaccounted>(planned) : function_of<Counted>(planned);
  action.run_timed = function_of<TimedDif>(planned);
  if (planned.aggregation != 0) action.aggregation = find_(planned.aggregation);
  is_inlined_ = has_body_ && is_in_body(planned.kind);
  for (const ValuePlan& each : planned.values) action.values.emplace_back(value(each)).action = action.number;
  return action;
}

void Preparer::make_body() {
  vm::BodyRequest request = body_of(code_, policy_);
  request.name = fmt::format("dt_clause_{}", plan_.clause);
  vm::MadeBody made = engine_.prepare_body(request);
  code_.body = std::move(made.body);
  code_.problem = std::move(made.problem);
  if (!code_.body) return;
  code_.gate = code_.body->gate();
  code_.is_plain = request.is_plain;
  code_.is_light = request.is_light;
}

EcbCode Preparer::prepare() && {
  code_.record_size = plan_.record_size;
  code_.speculates = plan_.speculates;
  is_inlined_ = has_body_;
  if (plan_.predicate) code_.predicate = value(*plan_.predicate);
  for (const ActionPlan& planned : plan_.actions) code_.actions.push_back(action(planned));
  code_.action_count = static_cast<uint32_t>(code_.actions.size());
  if (has_body_ && code_.problem.empty()) make_body();
  code_.engine = code_.problem.empty() ? engine_.name : vm::kUsualEngine.name;
  return std::move(code_);
}

}  // namespace

EcbCode prepare_code(const EcbPlan& plan, const FindLiveAggregation& find, vm::CostPolicy policy, const vm::Engine& engine) {
  return Preparer(plan, find, policy, engine).prepare();
}

}  // namespace dvm::runtime
