// Tested by tests/unit/instrument/clause_code_test.cpp, which runs the code beside the interpreter.

#include "runtime/instrument/agent/clause_code.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "dvm/dif/variable.h"
#include "dvm/dif/variable_of.h"
#include "runtime/agent/inside/aggregate.h"
#include "runtime/instrument/agent/clause_faults.h"
#include "runtime/instrument/agent/global_code.h"
#include "runtime/instrument/agent/key_maker.h"
#include "runtime/instrument/agent/text_key.h"

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

// It stops the clause.
bool may_fault(const dif::Difo& difo) {
  return std::any_of(difo.text.begin(), difo.text.end(), [](Instruction in) { return dif::info(in.opcode()).can_fault; });
}

// It changes a variable.
bool stores(const dif::Difo& difo) {
  return std::any_of(difo.text.begin(), difo.text.end(), [](Instruction in) { return dif::has_format(in, dif::Format::stv); });
}

// It changes several variables, of which the thread might change one and dvm both.
bool stores_twice(const dif::Difo& difo) {
  return std::count_if(difo.text.begin(), difo.text.end(), [](Instruction in) { return dif::has_format(in, dif::Format::stv); }) >
         1;
}

// The number of the variable among the values of a record; nothing: the thread does not have it.
std::optional<uint8_t> value_number(const dif::Variable& variable) {
  const bool is_local = variable.scope == dif::Scope::clause;
  const unsigned number = variable.id - dif::kFirstUserVariable;
  if (is_thread_text(variable)) return static_cast<uint8_t>(inside::kTextValue + number);
  const bool is_integer = variable.kind == dif::VariableKind::scalar && variable.type.kind == dif::TypeKind::integer;
  if (!is_integer || number >= (is_local ? inside::kMostLocals : inside::kMostVariables)) return {};
  return static_cast<uint8_t>(number + (is_local ? inside::kMostVariables : 0));
}

using SiteAction = std::variant<SiteValue, SiteAggregation>;

template <class Visit>
void visit_values(const SiteAction& action, const Visit& visit) {
  if (const auto* value = std::get_if<SiteValue>(&action)) return value->frames == 0 ? void(visit(*value)) : void();
  const auto& its = std::get<SiteAggregation>(action);
  for (const SiteValue& key : its.keys)
    if (key.frames == 0) visit(key);
  if (its.value) visit(*its.value);
}

// Its functions return false for what cannot run in the thread.
class StepMaker {
 public:
  // takes_failing: keys that may not be readable, and values that divide by what may be 0, are made in the thread.
  StepMaker(const ClausePlace& place, const NumberOf& number_of, bool takes_failing)
      : place_(place), number_of_(number_of), takes_failing_(takes_failing) {}

  bool add_all(std::span<const SiteClause> clauses) {
    for (const SiteClause& one : clauses)
      if (one.seen && place_.keeps(one.seen->variable) && has_room(one.seen->variable)) place_.seen = one.seen->variable.id;
    for (size_t i = 0; i < clauses.size(); i++)
      if (!add(clauses[i], i)) return false;
    if (is_time_recorded_) make_see(true);
    return is_allowed() && (records_ < clauses.size() || has_thread_variables_ || ends_run_);
  }

  ClauseSteps made;

 private:
  bool add(const SiteClause& clause, size_t number) {
    faults_ = {};
    place_.is_earlier = false;
    change_ = clause.seen && place_.seen && clause.seen->change ? clause.seen->change->difo : nullptr;
    if (clause.seen && place_.seen && clause.seen->is_first) add_see(*clause.seen);
    if (change_ == nullptr && clause.predicate && !add(*clause.predicate, inside::ClauseStep::Kind::predicate)) return false;
    if (change_ != nullptr && !add_change(clause)) return false;
    const size_t predicate = made.steps.size() - (change_ != nullptr ? 2 : 1);  // if it has one
    if ((clause.needs_dvm || !add_actions(clause, number)) && !add_record(clause, number)) return false;
    if (clause.predicate) made.steps[predicate].step.skip = static_cast<uint32_t>(made.steps.size() - predicate - 1);
    return true;
  }
  void add_see(const SeenGlobal& global) {
    const auto is_time = [](const AgentStep& one) { return one.step.kind == inside::ClauseStep::Kind::time; };
    see_ = {made.steps.size(), &global, std::any_of(made.steps.begin(), made.steps.end(), is_time)};
    made.steps.emplace_back().step.kind = inside::ClauseStep::Kind::see;
    make_see(false);
  }
  // Behind that step, records have its time.
  bool note_record() { return is_time_recorded_ |= see_.has_value(), see_.has_value(); }
  void make_see(bool is_recorded) {
    made.steps[see_->step].code =
        make_see_code(see_->global->variable, place_, {see_->global->reads_time && !see_->is_time_known, is_recorded});
  }
  // With the predicate, as often as other threads change the variable meanwhile.
  bool add_change(const SiteClause& clause) {
    using Kind = inside::ClauseStep::Kind;
    const SiteValue& change = *clause.seen->change;
    const bool has_condition = clause.predicate && clause.predicate->difo != change_;
    const bool needs_time = (has_condition && reads_time(*clause.predicate)) || reads_time(change);
    if (needs_time && see_->is_time_known) return refuse(InDvm::global);  // it is that of the firing, from before
    if (needs_time) add_time();
    MachineCode condition, code;
    if ((has_condition && !make(*clause.predicate, condition)) || !make(change, code)) return false;
    if (condition.may_fail || code.may_fail) return refuse(InDvm::fault);
    AgentStep& step = made.steps.emplace_back();
    step.step.kind = clause.predicate ? Kind::predicate : Kind::evaluate;
    step.code = make_change_code(condition, code);
    made.steps.emplace_back().step.kind = Kind::retry;
    return has_effect_ = true;
  }
  // What is before the change uses the value from before.
  void begin_actions(const SiteClause& clause) {
    place_.is_earlier = change_ != nullptr && !(clause.predicate && clause.predicate->difo == change_);
  }
  bool pass_change() {
    place_.is_earlier = false;
    return true;
  }
  // All of them, or none.
  bool add_actions(const SiteClause& clause, size_t number) {
    const size_t begin = made.steps.size();
    const bool had_effect = has_effect_, could_fail = may_fail_;
    faults_ = ClauseFaults(clause, !uses_kept(clause));
    begin_actions(clause);
    const auto add_one = [this](const auto& action) {
      const auto* value = std::get_if<SiteValue>(&action);
      if (value != nullptr && value->difo == change_) return pass_change();
      return value != nullptr ? add(*value, inside::ClauseStep::Kind::evaluate) : add(std::get<SiteAggregation>(action));
    };
    const bool are_added = std::all_of(clause.actions.begin(), clause.actions.end(), add_one);
    if (are_added && (faults_.steps.empty() || add_fault_record(*clause.fault, number))) return true;
    made.steps.resize(begin);
    has_effect_ = had_effect, may_fail_ = could_fail;
    return false;
  }
  // The steps of the clause that may fail lead there.
  bool add_fault_record(const ClauseRecordPlan& plan, size_t number) {
    AgentClauseRecord record{.clause = number, .record = {}};
    if (!add_variables(plan, record.record)) return false;
    if (plan.needs.time) record.record.values[record.record.count++] = inside::kTimeValue;
    record.record.values[record.record.count++] = inside::kUnreadableValue;
    record.record.is_seen = note_record();
    for (const size_t step : faults_.steps) made.steps[step].step.skip = static_cast<uint32_t>(made.steps.size() - step);
    AgentStep& step = made.steps.emplace_back();
    step.step.kind = inside::ClauseStep::Kind::fault_record;
    step.record = std::move(record);
    return true;
  }
  bool add_variables(const ClauseRecordPlan& plan, inside::ClauseRecord& to) {
    for (const dif::Variable& one : plan.variables) {
      if (one.scope == dif::Scope::global && !place_.keeps(one)) continue;  // dvm has it
      if (one.scope == dif::Scope::global && place_.seen != one.id) return refuse(InDvm::global);
      const auto value = one.scope == dif::Scope::global ? seen_value() : value_number(one);
      if (!value) return refuse(InDvm::variable);
      to.values[to.count++] = *value;
      note_variable(one);
    }
    return true;
  }
  std::optional<uint8_t> seen_value() const { return change_ != nullptr ? inside::kEarlierValue : inside::kSeenValue; }
  // Behind the record, which has the variables as they were, the thread changes them. What may fail is tried before: if it does,
  // the record is that of the fault.
  bool add_record(const SiteClause& clause, size_t number) {
    if (!clause.record) return false;
    if (uses_kept(clause, place_.seen)) return refuse(InDvm::global);
    const ClauseRecordPlan& plan = *clause.record;
    const bool uses_any =
        std::any_of(plan.values.begin(), plan.values.end(), [&](const auto& one) { return uses_kept(one, {}); });
    faults_ = ClauseFaults(clause, !uses_any && !uses_kept(clause));
    begin_actions(clause);
    BehindRecord behind;
    if (!add_values(plan, behind)) return false;
    AgentClauseRecord record{.clause = number, .record = {}};
    record.record.ends_run = plan.ends_run;
    record.record.is_seen = note_record();
    ends_run_ |= plan.ends_run;
    if (!add_variables(plan, record.record)) return false;
    if (plan.needs.time) {
      add_time();
      record.record.values[record.record.count++] = inside::kTimeValue;
    }
    AgentStep& step = made.steps.emplace_back();
    step.step.kind = inside::ClauseStep::Kind::clause_record;
    step.record = std::move(record);
    std::move(behind.steps.begin(), behind.steps.end(), std::back_inserter(made.steps));
    records_++;
    has_effect_ = true;
    return faults_.steps.empty() || add_fault_record(*clause.fault, number);
  }
  // In the order in which dvm evaluates them.
  bool add_values(const ClauseRecordPlan& plan, BehindRecord& behind) {
    for (const SiteValue& value : plan.values) {
      if (value.difo == change_) {
        pass_change();
        continue;
      }
      if (stores_own_text(*value.difo) && stores_twice(*value.difo)) return refuse(InDvm::fault);
      if (!(value.type.by_ref() ? try_text(value, plan.strsize, behind) : try_value(value, behind))) return false;
      if (!stores(*value.difo) || stores_own_text(*value.difo)) continue;
      const size_t begin = made.steps.size();
      if (!add_tried(value)) return false;
      if (!behind.takes(*value.difo, plan.variables)) continue;
      const auto first = made.steps.begin() + static_cast<ptrdiff_t>(begin);
      std::move(first, made.steps.end(), std::back_inserter(behind.steps));
      made.steps.erase(first, made.steps.end());
    }
    return true;
  }
  // A value that nothing keeps from being stored.
  bool add_tried(const SiteValue& value) {
    const bool had_effect = std::exchange(has_effect_, true);
    is_tried_ = true;
    const bool is_added = add(value, inside::ClauseStep::Kind::evaluate);
    is_tried_ = false;
    has_effect_ = had_effect;
    return is_added;
  }
  // In a variable of the clause, which only dvm has.
  static bool stores_own_text(const dif::Difo& difo) {
    return std::any_of(difo.text.begin(), difo.text.end(), [&difo](Instruction in) {
      const dif::Variable* variable = dif::stored_variable(difo, in);
      return variable != nullptr && variable->scope == dif::Scope::clause && variable->type.kind == dif::TypeKind::string;
    });
  }
  // What the clause has done before a fault would have to be done in the thread, too.
  bool take_failing_value(const BehindRecord& behind) {
    return behind.steps.empty() ? take_failing(false) : refuse(InDvm::fault);
  }
  bool try_value(const SiteValue& value, const BehindRecord& behind) {
    if (stores(*value.difo) || !may_fault(*value.difo)) return true;
    AgentStep step;
    if (!make(value, step.code)) return refuse(InDvm::fault);
    if (!step.code.may_fail) return true;
    if (!behind.steps.empty()) return refuse(InDvm::fault);
    step.step.kind = inside::ClauseStep::Kind::evaluate;
    made.steps.push_back(std::move(step));
    faults_.note_step(made.steps.size() - 1);
    return true;
  }
  // The string of a variable of the clause is loaded, or NULL is stored.
  static bool has_no_text_to_try(const dif::Difo& difo) {
    if (difo.text.size() != 2) return false;
    const Instruction in = difo.text[0];
    return loads_variable(in) ? dif::info(in.opcode()).scope == dif::Scope::clause : stores_variable(in) && in.rd() == 0;
  }
  bool try_text(const SiteValue& value, uint32_t strsize, const BehindRecord& behind) {
    if (has_no_text_to_try(*value.difo)) return true;
    const auto text = evaluated_text(*value.difo, place_.probe, strsize);
    if (!text || stores(text->address)) return refuse(InDvm::fault);  // dvm evaluates the address again
    AgentStep step;
    AgentKey key;
    if (const InDvm reason = make_key(*text, place_, key); reason != InDvm::nothing) return refuse(reason);
    if (text->kind != TextKey::Kind::copied && !(text->kind == TextKey::Kind::name_of_thread && stores(*value.difo))) return true;
    if (key.key.most >= inside::kMostKeyWords * sizeof(uint64_t)) return refuse(InDvm::keys);
    note_variables(text->address);
    faults_.note(text->address);
    if (!take_failing_value(behind)) return false;
    if (reads_time({&text->address, {}})) add_time();
    step.step.kind = inside::ClauseStep::Kind::try_text;
    step.text.from = key.key;
    step.code = std::move(key.code);
    made.steps.push_back(std::move(step));
    faults_.note_step(made.steps.size() - 1);
    return true;
  }

  // dvm could not run clauses with variables of the thread instead, if a key cannot be read, nor end the run at once.
  // It uses global variables of which dvm does not know the values, besides this one.
  using Besides = std::optional<uint16_t>;
  bool uses_kept(const SiteValue& value, Besides besides) const {
    const auto& its = value.difo->variables;
    return std::any_of(its.begin(), its.end(), [&](const auto& one) { return place_.keeps(one) && besides != one.id; });
  }
  bool uses_kept(const SiteAction& action, Besides besides) const {
    bool does = false;
    visit_values(action, [&](const SiteValue& value) { does |= uses_kept(value, besides); });
    return does;
  }
  bool uses_kept(const SiteClause& clause, Besides besides = {}) const {
    const auto does = [&](const auto& one) { return uses_kept(one, besides); };
    return (clause.predicate && does(*clause.predicate)) || std::any_of(clause.actions.begin(), clause.actions.end(), does);
  }
  bool is_allowed() { return !may_fail_ || (!has_thread_variables_ && !ends_run_) || refuse(InDvm::fault); }

  bool make(const SiteValue& value, MachineCode& code) {
    ValueMachineCode its = make_value_code(*value.difo, value.type, place_);
    if (its.in_dvm != InDvm::nothing) refuse(its.in_dvm);
    code = std::move(its.code);
    note_variables(*value.difo);
    faults_.note(*value.difo);
    return !code.empty() && (!code.may_fail || take_failing(stores(*value.difo)));
  }
  // Only where nothing has happened that dvm would do again: in the clause, which then has a record of its own; or at all, as
  // dvm begins with new variables of the clause. A value that fails must not be stored.
  bool take_failing(bool is_stored) {
    if (faults_.can_fail() && !is_stored) return faults_.is_at_step = true;
    if (has_effect_ || !takes_failing_) return refuse(InDvm::fault);
    return may_fail_ = true;
  }
  void note_variables(const dif::Difo& difo) {
    for (const dif::Variable& variable : difo.variables) note_variable(variable);
  }
  void note_variable(const dif::Variable& variable) {
    has_thread_variables_ |= variable.scope == dif::Scope::thread || place_.keeps(variable);
    const unsigned number = variable.id - dif::kFirstUserVariable;
    if (variable.scope == dif::Scope::clause && number < inside::kMostLocals)
      made.locals = std::max(made.locals, static_cast<uint16_t>(number + 1));
  }
  // The first reason is that of the probe.
  bool refuse(InDvm reason) {
    if (made.in_dvm == InDvm::nothing) made.in_dvm = reason;
    return false;
  }
  void add_time() { made.steps.emplace_back().step.kind = inside::ClauseStep::Kind::time; }
  bool add(const SiteValue& value, inside::ClauseStep::Kind kind) {
    if (reads_time(value)) add_time();
    if (const auto text = assigned_text(*value.difo, place_.probe, value.type.size)) return add_assignment(*value.difo, *text);
    AgentStep& step = made.steps.emplace_back();
    step.step.kind = kind;
    if (!make(value, step.code)) return false;
    faults_.note_step(made.steps.size() - 1);
    return true;
  }
  // The string is found as a key is, before the variable changes. dvm must not run what is behind it again.
  bool add_assignment(const dif::Difo& difo, const AssignedText& text) {
    AgentStep step;
    AgentKey key;
    step.step.kind = inside::ClauseStep::Kind::assign_text;
    step.text.variable = text.variable.id - dif::kFirstUserVariable;
    if (text.value.kind == TextKey::Kind::constant)
      step.text.constant = text.value.words;
    else if (const InDvm reason = make_key(text.value, place_, key); reason != InDvm::nothing)
      return refuse(reason);
    note_variables(difo);
    faults_.note(text.value.address);
    if (may_be_unreadable(key) && !is_tried_ && !take_failing(stores(text.value.address))) return false;
    step.text.is_tried = is_tried_;
    step.text.from = key.key;
    step.code = std::move(key.code);
    made.steps.push_back(std::move(step));
    faults_.note_step(made.steps.size() - 1);
    faults_.has_effect = true;
    return true;
  }
  bool add(const SiteAggregation& aggregation) {
    const auto function = function_number(aggregation.function);
    KeyMaker keys(place_);
    for (const SiteValue& key : aggregation.keys)
      if (const InDvm reason = keys.add(key, aggregation.strsize); reason != InDvm::nothing) return refuse(reason);
    if (!function) return refuse(InDvm::function);
    if (aggregation.words > inside::kMostWords) return refuse(InDvm::words);
    if (!keys.do_fit()) return refuse(InDvm::keys);
    bool is_stored = false;
    for (const SiteValue& key : aggregation.keys)
      if (key.frames == 0) faults_.note(*key.difo), is_stored |= stores(*key.difo);
    if (keys.may_fail() && !take_failing(is_stored)) return false;
    const bool has_time = (aggregation.value && reads_time(*aggregation.value)) ||
                          std::any_of(aggregation.keys.begin(), aggregation.keys.end(), reads_time);
    if (has_time) add_time();
    AgentStep& step = made.steps.emplace_back();
    step.step.kind = inside::ClauseStep::Kind::aggregate;
    AgentClause& its = step.aggregation;
    if (aggregation.value && !make(*aggregation.value, its.value)) return false;
    faults_.note_step(made.steps.size() - 1);
    has_effect_ = faults_.has_effect = true;
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

  ClausePlace place_;
  const NumberOf& number_of_;
  bool takes_failing_;
  ClauseFaults faults_;
  struct See {
    size_t step = 0;
    const SeenGlobal* global = nullptr;
    bool is_time_known = false;  // an earlier step may have read it
  };
  std::optional<See> see_;
  bool is_time_recorded_ = false;      // of that step
  bool is_tried_ = false;              // a step has found that the string can be read
  const dif::Difo* change_ = nullptr;  // of ClausePlace::seen, by the clause; null: it does not change it, or another clause does
  size_t records_ = 0;                 // clauses that have one
  bool has_effect_ = false;            // one of the steps, beyond variables
  bool may_fail_ = false, has_thread_variables_ = false, ends_run_ = false;
};

// Of predicates that read only what a gate has: no variable of the thread or the clause, and no time.
bool is_gate(const SiteClause& clause) {
  if (!clause.predicate || reads_time(*clause.predicate)) return false;
  const auto& variables = clause.predicate->difo->variables;
  return std::none_of(variables.begin(), variables.end(), [](const dif::Variable& its) {
    return its.scope == dif::Scope::thread || its.scope == dif::Scope::clause;
  });
}

// A record, unless all predicates are false. No steps: not all can be told in the thread. dvm then changes all globals.
std::vector<AgentStep> make_gates(std::span<const SiteClause> clauses, ClausePlace place) {
  place.kept = {};
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

void ChangedGlobals::note(std::span<const SiteClause> clauses, std::span<const uint16_t> globals) {
  const auto note = [&](const SiteValue& value) {
    for (const Instruction in : value.difo->text)
      if (const dif::Variable* its = dif::stored_variable(*value.difo, in); its != nullptr && its->scope == dif::Scope::global)
        if (std::find(globals.begin(), globals.end(), its->id) != globals.end()) all_.insert(its->id);
  };
  for (const SiteClause& clause : clauses) {
    if (clause.predicate) note(*clause.predicate);
    if (clause.seen && clause.seen->change) note(*clause.seen->change);  // by a clause that dvm runs, perhaps
    for (const auto& action : clause.actions) visit_values(action, note);
  }
}

bool ChangedGlobals::are_kept(std::span<const uint16_t> globals) const {
  return std::any_of(globals.begin(), globals.end(),
                     [this](uint16_t id) { return std::find(kept_.begin(), kept_.end(), id) != kept_.end(); });
}

std::vector<uint16_t> ChangedGlobals::only_read(std::span<const uint16_t> globals) const {
  std::vector<uint16_t> made;
  std::copy_if(globals.begin(), globals.end(), std::back_inserter(made), [this](uint16_t id) { return !all_.contains(id); });
  return made;
}

ClauseSteps make_steps(std::span<const SiteClause> clauses, const ClausePlace& place, const NumberOf& number_of) {
  InDvm in_dvm = InDvm::nothing;
  for (const bool takes_failing : {true, false}) {
    StepMaker maker(place, number_of, takes_failing);
    if (maker.add_all(clauses)) return std::move(maker.made);
    if (in_dvm == InDvm::nothing) in_dvm = maker.made.in_dvm;
  }
  return {.steps = make_gates(clauses, place), .runs_all = false, .in_dvm = in_dvm};
}

}  // namespace dvm::runtime
