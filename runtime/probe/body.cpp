// Tested by tests/fuzz/clause_fuzz_test.cpp.

#include "runtime/probe/body.h"

#include <algorithm>
#include <utility>

#include "runtime/probe/fire.h"

namespace dvm::runtime {
namespace {

using vm::BodyFrame, vm::Step, vm::StepKind;

// What becomes of the values of an action, as record_* do: the column `record` of actions.def.
enum class StepShape : uint8_t { values, expression, aggregation, called };

constexpr StepShape shape_of(dif::Action kind) {
  constexpr StepShape values = StepShape::values, expression = StepShape::expression;
  constexpr StepShape none = StepShape::called, exit = none, tracemem = none, stop = none, raise = none, chill = none,
                      speculate = none, commit = none, discard = none;
  if (dif::find_aggregation(kind)) return StepShape::aggregation;
  switch (kind) {
#define DVM_ACTION(number, name, arguments, when, keeps, record, ...) \
  case dif::Action::name:                                             \
    return record;
#include "vm/dif/actions.def"
    default:
      return StepShape::called;
  }
}

FireLevel& level_of(BodyFrame& frame) { return static_cast<FireLevel&>(frame); }
const EnabledAggregation& aggregation_of(const void* object) { return *static_cast<const EnabledAggregation*>(object); }

// Only a body that took the shorter way without it has to.
void prepare(BodyFrame& frame) noexcept {
  FireLevel& level = level_of(frame);
  const ProbeEcbs* probe = std::exchange(level.unprepared, nullptr);
  if (probe == nullptr) return;
  bool is_prepared = false;
  prepare_clause<Off>(level, *probe, *level.ecb, *level.entered, is_prepared);
}
uint64_t* find_keyed(BodyFrame& frame, const void* object, uint64_t bytes) noexcept {
  return find_keyed_state(level_of(frame).context, aggregation_of(object), {frame.key, bytes});
}
void update(const void* object, uint64_t* state, uint64_t value, uint64_t increment) noexcept {
  const EnabledAggregation& aggregation = aggregation_of(object);
  aggregation.function->update(aggregation, state, static_cast<int64_t>(value), static_cast<int64_t>(increment));
}
void update_keyless(BodyFrame& frame, const void* object, uint64_t value, uint64_t increment) noexcept {
  FireLevel& level = level_of(frame);
  if (uint64_t* state = find_keyless_state(level.context, aggregation_of(object)))
    update(object, state, value, increment);
  else
    level.cpu->aggregation_drops++;
}
uint64_t call_action(BodyFrame& frame, const void* object, std::byte* record) noexcept {
  const auto& action = *static_cast<const ActionCode*>(object);
  return action.run(level_of(frame), action, record);
}

template <class Policy>
constexpr vm::BodyHelpers kHelpers = {
    [](BodyFrame& frame) noexcept { return begin_record(level_of(frame)); },
    [](BodyFrame& frame, const void* object, uint64_t value, std::byte* record) noexcept {
      return uint64_t{keep_value<Policy>(level_of(frame), *static_cast<const ValueCode*>(object), value, record)};
    },
    [](BodyFrame& frame, const void* object, uint64_t value, std::byte* to) noexcept {
      return uint64_t{append_key<Policy>(level_of(frame), *static_cast<const ValueCode*>(object), value, to)};
    },
    find_keyed,
    update,
    prepare,
    update_keyless,
    [](BodyFrame& frame) noexcept { level_of(frame).cpu->aggregation_drops++; },
    call_action,
};

class Builder {
 public:
  explicit Builder(const EcbCode& code) : code_(code) {}
  vm::BodyRequest build(vm::CostPolicy policy) &&;

 private:
  void add_predicate(vm::CostPolicy policy);
  void add(const ActionCode& action);
  void add_values(const ActionCode& action, bool are_kept);
  void add_aggregation(const ActionCode& action);
  void keep(const ValueCode& value);
  void append_key(const ValueCode& value);
  void evaluate(const ValueCode& value);
  uint32_t difo(const ValueCode& value);
  Step& add(StepKind kind, const void* object = nullptr);
  Step& add(StepKind kind, const ValueCode& value);

  const EcbCode& code_;
  vm::BodyRequest made_;
};

Step& Builder::add(StepKind kind, const void* object) {
  Step& step = made_.steps.emplace_back();
  step.kind = kind, step.object = object;
  return step;
}
Step& Builder::add(StepKind kind, const ValueCode& value) {
  Step& step = add(kind, static_cast<const void*>(&value));
  step.offset = value.offset, step.size = value.type.size, step.is_signed = value.type.is_signed;
  return step;
}

uint32_t Builder::difo(const ValueCode& value) {
  made_.difos.push_back({&value.difo->difo(), value.costs});
  return static_cast<uint32_t>(made_.difos.size() - 1);
}
void Builder::evaluate(const ValueCode& value) { add(StepKind::evaluate).number = difo(value); }

// store_value() has the same cases.
void Builder::keep(const ValueCode& value) {
  if (value.size == 0) return;
  if (value.made_by == dif::Action::expression && !value.type.by_ref())
    add(StepKind::store, value).size = value.size;
  else
    add(StepKind::keep, value);
}

void Builder::add_values(const ActionCode& action, bool are_kept) {
  for (const ValueCode& value : action.values) {
    evaluate(value);
    if (are_kept) keep(value);
  }
}

void Builder::append_key(const ValueCode& value) {
  evaluate(value);
  add(value.type.by_ref() ? StepKind::append_key : StepKind::key_integer, value);
}

void Builder::add_aggregation(const ActionCode& action) {
  for (uint32_t i = 0; i < action.key_count; i++) append_key(action.values[i]);
  for (uint32_t i = action.key_count; i < action.values.size(); i++) {
    evaluate(action.values[i]);
    add(StepKind::argument, action.values[i]).number = i - action.key_count;
  }
  add(action.key_count == 0 ? StepKind::find_keyless : StepKind::find, action.aggregation).number = action.aggregation->number;
  add(StepKind::update, action.aggregation).function = action.kind;
}

void Builder::add(const ActionCode& action) {
  Step& begin = add(StepKind::action);
  begin.number = action.number;
  begin.offset = static_cast<uint32_t>(action.number * sizeof(ActionTally) + offsetof(ActionTally, count));
  switch (shape_of(action.kind)) {
    case StepShape::values:
      return add_values(action, true);
    case StepShape::expression:
      return add_values(action, false);
    case StepShape::aggregation:
      return add_aggregation(action);
    case StepShape::called:
      add(StepKind::call, &action);
  }
}

// Whether it reads the machine state, or its helper does.
bool reads_machine(const Step& step) {
  return step.kind == StepKind::keep || step.kind == StepKind::append_key || step.kind == StepKind::call;
}

// With accounting, a firing counts whether the predicate holds or not.
void Builder::add_predicate(vm::CostPolicy policy) {
  const dif::Difo& predicate = code_.predicate->difo->difo();
  if (policy == vm::CostPolicy::none && vm::is_plain(predicate))
    made_.gate = &predicate;
  else
    add(StepKind::predicate).number = difo(*code_.predicate);
}

vm::BodyRequest Builder::build(vm::CostPolicy policy) && {
  if (code_.predicate) add_predicate(policy);
  if (code_.record_size != 0) add(StepKind::reserve);
  for (const ActionCode& action : code_.actions) add(action);
  made_.actions = code_.action_count;
  made_.counts = policy == vm::CostPolicy::blocks;
  const auto are_all = [this](bool (*is)(const dif::Difo&)) {
    return !made_.counts && std::none_of(made_.steps.begin(), made_.steps.end(), reads_machine) &&
           std::all_of(made_.difos.begin(), made_.difos.end(), [is](auto& each) { return is(*each.difo); });
  };
  made_.is_plain = are_all(vm::is_plain);
  made_.is_light = !made_.is_plain && are_all(vm::is_light);
  made_.helpers = made_.counts ? &kHelpers<Counted> : &kHelpers<Unaccounted>;
  return std::move(made_);
}

}  // namespace

bool is_in_body(dif::Action kind) { return shape_of(kind) != StepShape::called; }

vm::BodyRequest body_of(const EcbCode& code, vm::CostPolicy policy) { return Builder(code).build(policy); }

}  // namespace dvm::runtime
