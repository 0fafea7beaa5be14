// Clauses to plans. Tested by tests/unit/runtime/enabling_test.cpp and plan_test.cpp.

#include "runtime/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <variant>

#include "dvm/dif/action.h"
#include "dvm/dif/leaves_record.h"
#include "dvm/dif/return_of.h"
#include "dvm/dif/variable.h"

namespace dvm::runtime {
namespace {

constexpr uint32_t kMostRecord = 1u << 30;
constexpr uint32_t kMostStackFrames = 65536;

Error unverified(const std::vector<vm::VerifyError>& errors) {
  std::string text = "the verifier rejects its DIF";
  if (!errors.empty()) text += fmt::format(": instruction {}: {}", errors.front().pc, errors.front().message);
  if (errors.size() > 1) text += fmt::format(" (and {} more)", errors.size() - 1);
  return {text};
}

Result<uint32_t> size_of_value(const dif::DataType& type, const dif::Options& options) {
  switch (type.kind) {
    case dif::TypeKind::none:
      return 0u;
    case dif::TypeKind::string:
      return std::min(static_cast<uint32_t>(std::clamp<int64_t>(options[dif::Option::strsize], 0, kMostRecord) + 1),
                      type.size != 0 ? type.size : UINT32_MAX);
    case dif::TypeKind::bytes:
      if (type.size == 0 || type.size > kMostRecord)
        return Error{fmt::format("a value of {} bytes cannot be recorded", type.size)};
      return type.size;
    case dif::TypeKind::integer:
      if (type.size > 8 || !std::has_single_bit(type.size))
        return Error{fmt::format("there is no integer of {} bytes", type.size)};
      return type.size;
  }
  return Error{"a value of unknown type cannot be recorded"};
}

// Whether a variable of the script is among its operands that may hold no string.
bool loads_string(const dif::Difo& difo) {
  return std::any_of(difo.variables.begin(), difo.variables.end(), [](const dif::Variable& variable) {
    return variable.id >= dif::kFirstUserVariable && variable.type.kind == dif::TypeKind::string;
  });
}

dif::Difo nothing() {
  dif::Difo difo;
  difo.text = {dif::return_of(0)};
  return difo;
}

// Gives every value its place; returns the record's size, or 0 if it would be absurd.
uint32_t lay_out(std::vector<ActionPlan>& actions) {
  uint64_t at = sizeof(RecordHeader);
  for (ActionPlan& action : actions) {
    if (action.aggregation != 0 || !dif::keeps_values(action.kind)) continue;
    for (ValuePlan& value : action.values) {
      uint64_t alignment = value.type.kind == dif::TypeKind::string ? 1 : value.type.by_ref() ? 8 : std::max(value.size, 1u);
      at = (at + alignment - 1) / alignment * alignment;
      value.offset = static_cast<uint32_t>(at);
      at += value.size;
      if (at > kMostRecord) return 0;
    }
  }
  return static_cast<uint32_t>((at + 7) & ~uint64_t{7});
}

bool is_supported(dif::Action kind) {
  const dif::ActionInfo* info = dif::find_action(kind);
  return dif::find_aggregation(kind) || (info && info->unsupported.empty());
}

// Whether one of the arguments of an action is a value that it cannot do without.
bool wants_value(const dif::ArgumentList& arguments) {
  return std::any_of(arguments.begin(), arguments.end(), [](const dif::Argument& argument) {
    const bool is_value = argument.type != dif::ArgumentType::format && argument.type != dif::ArgumentType::aggregation &&
                          argument.type != dif::ArgumentType::formatted;
    return is_value && !argument.is_optional;
  });
}

// What the description promises must hold, whoever made it: nothing later checks it again.
Status check_arguments(const dif::ActDesc& desc) {
  const dif::ActionInfo* info = dif::find_action(desc.kind);
  if (info && desc.key_count != 0) return Error{fmt::format("{}( ) has no keys", info->name)};
  if (info && wants_value(info->arguments) && desc.args.empty())
    return Error{fmt::format("{}( ) lacks its argument", info->name)};
  return {};
}

Status check_key(const dif::RecDesc& arg, const dif::DataType& declared) {
  if (arg.made_by != dif::Action::expression) return {};
  const dif::DataType& type = arg.difo.result;
  if (type.kind == dif::TypeKind::none) return Error{"it aggregates something that is not a value"};
  if (type.kind != declared.kind || type.size != declared.size)
    return Error{"its keys have other types than those of its aggregation"};
  return {};
}

// The arguments that are evaluated at the firing: the value, which all but count() have.
size_t value_count(const dif::AggregationInfo& function) { return function.arguments.required() == 0 ? 0 : 1; }

Status check_aggregating(const dif::ActDesc& desc, const dif::AggregationDesc& aggregation) {
  const dif::AggregationInfo& function = *dif::find_aggregation(desc.kind);
  if (aggregation.function != desc.kind) return Error{"it aggregates by another function than its aggregation's"};
  if (desc.key_count != aggregation.keys.size()) return Error{"its keys are not those of its aggregation"};
  const size_t values = desc.args.size() < desc.key_count ? SIZE_MAX : desc.args.size() - desc.key_count;
  const size_t least = value_count(function), most = least + (function.histogram ? 1 : 0);
  if (values < least || values > most) return Error{"its aggregating function has a wrong number of arguments"};
  for (size_t i = 0; i < desc.key_count; i++)
    if (Status sound = check_key(desc.args[i], aggregation.keys[i]); !sound) return sound;
  for (size_t i = desc.key_count; i < desc.args.size(); i++) {
    const dif::DataType& type = desc.args[i].difo.result;
    if (type.kind == dif::TypeKind::none || type.by_ref()) return Error{"it aggregates something that is not a value"};
  }
  return {};
}

size_t bytes_as_key(const ValuePlan& value) {
  if (dif::is_stack(value.made_by)) return value.size + 8;
  return value.type.by_ref() ? (value.size + 7) & ~size_t{7} : 8;
}

class ClausePlanner {
 public:
  ClausePlanner(const FindAggregation& find, const dif::Options& options) : find_(find), options_(options) {}
  Status plan(EcbPlan& plan);

 private:
  Result<ValuePlan> value(const dif::Difo& difo);
  Result<ValuePlan> value(const dif::RecDesc& desc);
  Result<ActionPlan> action(const dif::ActDesc& desc);
  Status find_aggregation(const dif::ActDesc& desc, ActionPlan& action);
  void sum_up(EcbPlan& plan) const;

  const FindAggregation& find_;
  const dif::Options& options_;
  std::vector<vm::VerifiedDifo> difos_;
  std::vector<dif::AggregationDesc> aggregations_;
};

Result<ValuePlan> ClausePlanner::value(const dif::Difo& difo) {
  auto verified = vm::verify(difo);
  if (auto* errors = std::get_if<std::vector<vm::VerifyError>>(&verified)) return unverified(*errors);
  Result<uint32_t> size = size_of_value(difo.result, options_);
  if (!size) return size.error();
  difos_.push_back(std::get<vm::VerifiedDifo>(std::move(verified)));
  ValuePlan value;
  value.type = difo.result;
  value.size = *size;
  value.may_be_null = loads_string(difo);
  return value;
}

Result<ValuePlan> ClausePlanner::value(const dif::RecDesc& desc) {
  const bool is_stack = dif::is_stack(desc.made_by);
  Result<ValuePlan> made = value(dif::is_own_stack(desc) ? nothing() : desc.difo);
  if (!made || desc.made_by == dif::Action::expression) return made;
  if (!is_stack && !dif::is_symbol(desc.made_by)) return Error{"it records what dvm cannot make"};
  if (desc.frames > kMostStackFrames) return Error{fmt::format("a stack of {} frames is too large", desc.frames)};
  made->made_by = desc.made_by, made->is_kept = dif::is_kept_stack(desc);
  made->size = 8 * (1 + (is_stack ? desc.frames : 1));
  made->type = {dif::TypeKind::bytes, false, false, made->size, ""};
  return made;
}

Status ClausePlanner::find_aggregation(const dif::ActDesc& desc, ActionPlan& action) {
  const dif::AggregationDesc* aggregation = nullptr;
  for (uint32_t id : desc.aggregations) {
    if (aggregation = find_(id); aggregation == nullptr)
      return Error{"it names an aggregation that the program does not declare"};
    const auto same = [id](const dif::AggregationDesc& known) { return known.id == id; };
    if (std::none_of(aggregations_.begin(), aggregations_.end(), same)) aggregations_.push_back(*aggregation);
  }
  if (!dif::find_aggregation(desc.kind)) return {};
  if (aggregation == nullptr) return Error{"it names an aggregation that the program does not declare"};
  action.aggregation = aggregation->id;
  return check_aggregating(desc, *aggregation);
}

Result<ActionPlan> ClausePlanner::action(const dif::ActDesc& desc) {
  ActionPlan action;
  action.kind = desc.kind;
  action.desc = &desc;
  action.key_count = desc.key_count;
  if (!is_supported(desc.kind)) return Error{"it has an action that dvm does not have"};
  if (Status sound = check_arguments(desc); !sound) return sound.error();
  if (Status sound = find_aggregation(desc, action); !sound) return sound.error();
  for (const dif::RecDesc& arg : desc.args) {
    Result<ValuePlan> made = value(arg);
    if (!made) return made.error();
    action.values.push_back(std::move(*made));
  }
  return action;
}

void ClausePlanner::sum_up(EcbPlan& plan) const {
  const auto any = [&](auto&& holds) { return std::any_of(plan.actions.begin(), plan.actions.end(), holds); };
  plan.speculates = any([](const ActionPlan& action) { return action.kind == dif::Action::speculate; });
  plan.needs_machine =
      plan.predicate || any([](const ActionPlan& action) { return !action.values.empty() || action.kind == dif::Action::stop; });
  for (const ActionPlan& action : plan.actions) {
    size_t key = 0;
    for (unsigned i = 0; i < action.key_count; i++) key += bytes_as_key(action.values[i]);
    plan.key_bytes = std::max(plan.key_bytes, key);
  }
}

Status ClausePlanner::plan(EcbPlan& plan) {
  if (plan.desc.predicate) {
    Result<ValuePlan> predicate = value(plan.desc.predicate->difo);
    if (!predicate) return predicate.error();
    plan.predicate = std::move(*predicate);
  }
  for (const dif::ActDesc& desc : plan.desc.actions) {
    Result<ActionPlan> planned = action(desc);
    if (!planned) return planned.error();
    plan.actions.push_back(std::move(*planned));
  }
  const uint32_t size = lay_out(plan.actions);
  if (size == 0) return Error{"its record would be too large"};
  plan.record_size = leaves_record(plan.desc) ? size : 0;
  sum_up(plan);
  plan.difos = std::move(difos_);
  plan.aggregations = std::move(aggregations_);
  return {};
}

}  // namespace

namespace {

dif::Option frames_option(dif::Action stack) {
  return stack == dif::Action::stack    ? dif::Option::stackframes
         : stack == dif::Action::jstack ? dif::Option::jstackframes
                                        : dif::Option::ustackframes;
}

// A stack with the frames of a JVM is recorded as every stack of a program is.
void as_ustack(dif::Action& action) {
  if (action == dif::Action::jstack) action = dif::Action::ustack;
}

}  // namespace

void set_frames(dif::EcbDesc& clause, const dif::Options& options) {
  for (dif::ActDesc& action : clause.actions) {
    for (dif::RecDesc& desc : action.args) {
      if (!dif::is_stack(desc.made_by)) continue;
      if (desc.frames == 0) desc.frames = static_cast<uint32_t>(options[frames_option(desc.made_by)]);
      desc.frames = std::min(desc.frames, static_cast<uint32_t>(options[dif::Option::maxframes]));
      as_ustack(desc.made_by);
    }
    as_ustack(action.kind);
  }
}

Result<EcbPlan> make_plan(unsigned clause, dif::EcbDesc desc, const FindAggregation& find, const dif::Options& options) {
  EcbPlan plan;
  plan.clause = clause;
  plan.desc = std::move(desc);
  plan.strsize = static_cast<uint64_t>(std::max<int64_t>(options[dif::Option::strsize], 0));
  if (Status made = ClausePlanner(find, options).plan(plan); !made) return made.error();
  return plan;
}

}  // namespace dvm::runtime
