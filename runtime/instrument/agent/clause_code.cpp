// Tested by tests/unit/instrument/clause_code_test.cpp, which runs the code beside the interpreter.

#include "runtime/instrument/agent/clause_code.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "dvm/dif/variable.h"
#include "runtime/agent/inside/aggregate.h"
#include "runtime/instrument/agent/key_maker.h"

namespace dvm::runtime {
namespace {

using dif::Instruction;

std::optional<uint32_t> function_number(dif::Action function) {
#define DVM_UPDATE(name) \
  if (function == dif::Action::agg_##name) return static_cast<uint32_t>(inside::SiteFunction::name);
#include "vm/dif/updates.def"
  if (function == dif::Action::agg_stddev) return static_cast<uint32_t>(inside::SiteFunction::stddev);
  if (function == dif::Action::agg_lquantize) return static_cast<uint32_t>(inside::SiteFunction::lquantize);
  if (function == dif::Action::agg_llquantize) return static_cast<uint32_t>(inside::SiteFunction::llquantize);
  return std::nullopt;
}

inside::UpdateShape shape_of(const SiteAggregation& aggregation) {
  inside::UpdateShape shape{.parameters = {0, 0, 1, 0}, .words = aggregation.words};  // a step is 1 unless it is given
  const size_t count = std::min(aggregation.parameters.size(), std::size(shape.parameters));
  std::copy_n(aggregation.parameters.begin(), count, shape.parameters);
  return shape;
}

bool reads_time(const SiteValue& value) {
  return std::any_of(value.difo->text.begin(), value.difo->text.end(),
                     [](Instruction in) { return dif::built_in_of(in) == static_cast<unsigned>(dif::BuiltIn::timestamp); });
}

// Its functions return false for what cannot run in the thread.
class StepMaker {
 public:
  StepMaker(const ClausePlace& place, const NumberOf& number_of) : place_(place), number_of_(number_of) {}

  bool add(const SiteClause& clause) {
    const size_t begin = made.steps.size() + (clause.predicate && reads_time(*clause.predicate) ? 1 : 0);
    if (clause.predicate && !add(*clause.predicate, inside::ClauseStep::Kind::predicate)) return false;
    for (const auto& action : clause.actions) {
      const auto* value = std::get_if<SiteValue>(&action);
      if (!(value != nullptr ? add(*value, inside::ClauseStep::Kind::evaluate) : add(std::get<SiteAggregation>(action))))
        return false;
    }
    if (clause.predicate) made.steps[begin].step.skip = static_cast<uint32_t>(made.steps.size() - begin - 1);
    return true;
  }

  // dvm could not run clauses with variables of the thread instead, if a key cannot be read.
  bool is_allowed() { return !may_fail_ || !has_thread_variables_ || refuse(InDvm::fault); }

  ClauseSteps made;

 private:
  bool make(const SiteValue& value, MachineCode& code) {
    ValueMachineCode its = make_value_code(*value.difo, value.type, place_);
    if (its.in_dvm != InDvm::nothing) made.in_dvm = its.in_dvm;
    code = std::move(its.code);
    note_variables(*value.difo);
    return !code.empty();
  }
  void note_variables(const dif::Difo& difo) {
    for (const dif::Variable& variable : difo.variables) {
      has_thread_variables_ |= variable.scope == dif::Scope::thread;
      const unsigned number = variable.id - dif::kFirstUserVariable;
      if (variable.scope == dif::Scope::clause && number < inside::kMostLocals)
        made.locals = std::max(made.locals, static_cast<uint16_t>(number + 1));
    }
  }
  bool refuse(InDvm reason) {
    made.in_dvm = reason;
    return false;
  }
  void add_time() { made.steps.emplace_back().step.kind = inside::ClauseStep::Kind::time; }
  bool add(const SiteValue& value, inside::ClauseStep::Kind kind) {
    if (reads_time(value)) add_time();
    has_effect_ |= kind == inside::ClauseStep::Kind::evaluate;
    AgentStep& step = made.steps.emplace_back();
    step.step.kind = kind;
    return make(value, step.code);
  }
  bool add(const SiteAggregation& aggregation) {
    const auto function = function_number(aggregation.function);
    KeyMaker keys(place_);
    for (const SiteValue& key : aggregation.keys)
      if (const InDvm reason = keys.add(key, aggregation.strsize); reason != InDvm::nothing) return refuse(reason);
    if (!function) return refuse(InDvm::function);
    if (aggregation.words > inside::kMostWords) return refuse(InDvm::words);
    if (!keys.do_fit()) return refuse(InDvm::keys);
    if (keys.may_fail() && has_effect_) return refuse(InDvm::fault);
    may_fail_ |= keys.may_fail();
    has_effect_ = true;
    const bool has_time = (aggregation.value && reads_time(*aggregation.value)) ||
                          std::any_of(aggregation.keys.begin(), aggregation.keys.end(), reads_time);
    if (has_time) add_time();
    AgentStep& step = made.steps.emplace_back();
    step.step.kind = inside::ClauseStep::Kind::aggregate;
    AgentClause& its = step.aggregation;
    if (aggregation.value && !make(*aggregation.value, its.value)) return false;
    for (const SiteValue& key : aggregation.keys) note_variables(*key.difo);
    its.clause.key_count = static_cast<uint32_t>(keys.keys.size());
    its.keys = std::move(keys.keys);
    its.clause.shape = shape_of(aggregation);
    its.clause.clause = number_of_(
        {aggregation.aggregation, aggregation.words, *function, aggregation.initial, std::move(keys.parts), its.clause.shape});
    its.clause.function = *function;
    its.clause.words = aggregation.words;
    its.clause.initial = aggregation.initial;
    return true;
  }

  const ClausePlace& place_;
  const NumberOf& number_of_;
  bool has_effect_ = false;  // one of the steps
  bool may_fail_ = false, has_thread_variables_ = false;
};

// Of predicates that read only what a gate has: no variable of the thread or the clause, and no time.
bool is_gate(const SiteClause& clause) {
  if (!clause.predicate || reads_time(*clause.predicate)) return false;
  const auto& variables = clause.predicate->difo->variables;
  return std::none_of(variables.begin(), variables.end(), [](const dif::Variable& its) {
    return its.scope == dif::Scope::thread || its.scope == dif::Scope::clause;
  });
}

// A record, unless all predicates are false. No steps: not all can be told in the thread.
std::vector<AgentStep> make_gates(std::span<const SiteClause> clauses, const ClausePlace& place) {
  std::vector<AgentStep> steps;
  for (const SiteClause& clause : clauses) {
    if (!is_gate(clause)) return {};
    AgentStep& predicate = steps.emplace_back();
    predicate.code = make_value_code(*clause.predicate->difo, clause.predicate->type, place).code;
    if (predicate.code.empty()) return {};
    predicate.step = {.kind = inside::ClauseStep::Kind::predicate, .skip = 1};
    steps.emplace_back().step.kind = inside::ClauseStep::Kind::record;
  }
  return steps;
}

}  // namespace

ClauseSteps make_steps(std::span<const SiteClause> clauses, const ClausePlace& place, const NumberOf& number_of) {
  StepMaker maker(place, number_of);
  const bool can_run = std::all_of(clauses.begin(), clauses.end(),
                                   [&](const SiteClause& clause) { return !clause.needs_dvm && maker.add(clause); });
  if (can_run && maker.is_allowed()) return std::move(maker.made);
  return {.steps = make_gates(clauses, place), .runs_all = false, .in_dvm = maker.made.in_dvm};
}

}  // namespace dvm::runtime
