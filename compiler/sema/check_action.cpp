// Actions by the rows of actions.def. Tests: tests/golden/sema.
#include "compiler/sema/check_action.h"

#include <fmt/format.h>

#include "compiler/sema/check_types.h"
#include "compiler/sema/fold_constants.h"
#include "compiler/sema/tables.h"

namespace dvm::compiler {

namespace {

std::string spell(const Call& call) { return call.name + "( )"; }

bool arguments_left(const Call& call, size_t at_least, size_t at_most, Session& s) {
  const size_t n = call.arguments.size();
  if (n >= at_least && n <= at_most) return true;
  s.error(Tag::D_PROTO_LEN, call.where,
          fmt::format("{} prototype mismatch: {} arg{} passed, {}{} expected", spell(call), n, n == 1 ? "" : "s",
                      at_least == at_most ? "" : "at least ", at_least));
  return false;
}

// A value that is recorded: an expression with a value of its own.
bool check_trace(Call& call, CheckedAction& action, Session& s) {
  if (!arguments_left(call, 1, 1, s)) return false;
  if (call.arguments[0]->kind == ExprKind::Aggregation) {
    s.error(Tag::D_TRACE_DYN, call.arguments[0]->where, fmt::format("{} may not be applied to a dynamic expression", spell(call)),
            {"aggregations are printed with printa()"});
    return false;
  }
  ExprChecker checker(s);
  if (!checker.check_value(call.arguments[0])) return false;
  if (is_void(call.arguments[0]->type)) {
    s.error(Tag::D_TRACE_VOID, call.arguments[0]->where, fmt::format("{} may not be applied to a void expression", spell(call)));
    return false;
  }
  action.args.push_back(std::move(call.arguments[0]));
  return true;
}

bool check_exit(Call& call, CheckedAction& action, Session& s) {
  ExprChecker checker(s);
  for (ExprPtr& argument : call.arguments) checker.check(argument);
  if (!checker.check_prototype(spell(call), "int", call.arguments, call.where)) return false;
  action.args.push_back(std::move(call.arguments[0]));
  return true;
}

bool check_aggregation_only(Call& call, CheckedAction& action, Session& s) {
  if (!arguments_left(call, 1, 1, s)) return false;
  AggregationSymbol* a = aggregation_argument(call, 0, Tag::D_CLEAR_AGGARG, s);
  if (!a) return false;
  action.aggregations.push_back(a->desc.id);
  return true;
}

// trunc and normalize: an aggregation and an integer.
bool check_with_count(Call& call, CheckedAction& action, size_t at_least, Tag tag, Session& s) {
  if (!arguments_left(call, at_least, 2, s)) return false;
  AggregationSymbol* a = aggregation_argument(call, 0, tag, s);
  if (!a) return false;
  action.aggregations.push_back(a->desc.id);
  if (call.arguments.size() == 1) return true;
  ExprPtr& value = call.arguments[1];
  ExprChecker checker(s);
  if (!checker.check_value(value)) return false;
  if (!is_integer(value->type)) {
    s.error(Tag::D_PROTO_ARG, value->where,
            fmt::format("{} argument #2 is incompatible with prototype:\n\tprototype: int\n\t argument: {}", spell(call),
                        value->type->name));
    return false;
  }
  action.args.push_back(convert(std::move(value), s.types.basic("int64_t")));
  return true;
}

bool check_trunc(Call& call, CheckedAction& action, Session& s) {
  return check_with_count(call, action, 1, Tag::D_TRUNC_AGGARG, s);
}
bool check_normalize(Call& call, CheckedAction& action, Session& s) {
  return check_with_count(call, action, 2, Tag::D_NORMALIZE_AGGARG, s);
}

bool check_format(Call& call, CheckedAction& action, Session& s) {
  ExprChecker checker(s);
  for (size_t i = 0; i < call.arguments.size(); i++) {
    ExprPtr& argument = call.arguments[i];
    if (argument->kind == ExprKind::Aggregation) {
      s.error(Tag::D_PRINTF_AGG_CONV, argument->where, fmt::format("{} may not be applied to an aggregation", spell(call)),
              {"aggregations are printed with printa()"});
      return false;
    }
    if (!checker.check_value(argument)) return false;
  }
  if (!check_printf(call, action, s)) return false;
  for (size_t i = 1; i < call.arguments.size(); i++) action.args.push_back(std::move(call.arguments[i]));
  return true;
}

bool check_setopt(Call& call, CheckedAction& action, Session& s) {
  if (!arguments_left(call, 1, 2, s)) return false;
  for (size_t i = 0; i < call.arguments.size(); i++) {
    ExprPtr& argument = call.arguments[i];
    ExprChecker checker(s);
    if (!checker.check_value(argument)) return false;
    if (!is_string(argument->type)) {
      s.error(Tag::D_PROTO_ARG, argument->where,
              fmt::format("{} argument #{} is incompatible with prototype:\n\tprototype: string\n\t argument: {}", spell(call),
                          i + 1, argument->type->name));
      return false;
    }
    action.args.push_back(std::move(argument));
  }
  return true;
}

struct ActionCheck {
  dif::Action action;
  bool (*check)(Call&, CheckedAction&, Session&);
};
constexpr ActionCheck kChecks[] = {
    {dif::Action::trace, check_trace},
    {dif::Action::exit, check_exit},
    {dif::Action::printf, check_format},
    {dif::Action::printa, check_printa},
    {dif::Action::system, check_format},
    {dif::Action::setopt, check_setopt},
    {dif::Action::clear, check_aggregation_only},
    {dif::Action::denormalize, check_aggregation_only},
    {dif::Action::trunc, check_trunc},
    {dif::Action::normalize, check_normalize},
};

bool check_call(Call& call, const dif::ActionInfo& row, CheckedAction& action, Session& s) {
  if (!row.unsupported.empty()) {
    s.error(Tag::D_UNKNOWN, call.where, fmt::format("{} is not available in dvm: {}", spell(call), row.unsupported));
    return false;
  }
  action.kind = row.id;
  for (const ActionCheck& c : kChecks)
    if (c.action == row.id) return c.check(call, action, s);
  s.error(Tag::D_UNKNOWN, call.where, fmt::format("{} is not available in dvm: the compiler does not know it yet", spell(call)));
  return false;
}

bool check_expression(ExprPtr& expr, CheckedAction& action, Session& s) {
  if (const auto* call = as<Call>(expr.get()); call && find_by_name(dif::kAggregations, call->name)) {
    s.error(Tag::D_AGG_FUNC, call->where, fmt::format("{}( ) may only be assigned to an aggregation", call->name),
            {fmt::format("write @ = {}(...)", call->name)});
    return false;
  }
  ExprChecker checker(s);
  if (!checker.check_value(expr)) return false;
  if (const Call* nested = checker.nested_action()) {
    s.error(Tag::D_OP_ACT, nested->where, fmt::format("action {}( ) must be a statement of its own", nested->name));
    return false;
  }
  action.args.push_back(std::move(expr));
  return true;
}

bool check(Statement& statement, CheckedAction& action, Session& s) {
  if (auto* assign = as<Assign>(statement.expr.get());
      assign && assign->target->kind == ExprKind::Aggregation && assign->op == Op::assign)
    return check_aggregation(*assign, action, s);
  if (auto* call = as<Call>(statement.expr.get()))
    if (const dif::ActionInfo* row = find_by_name(dif::kActions, call->name)) return check_call(*call, *row, action, s);
  return check_expression(statement.expr, action, s);
}

}  // namespace

AggregationSymbol* aggregation_argument(const Call& call, size_t index, Tag tag, Session& s) {
  const Expr& argument = *call.arguments[index];
  const auto* aggregation = as<Aggregation>(&argument);
  if (!aggregation || aggregation->has_keys) {
    ExprPtr copy = clone(argument);
    ExprChecker checker(s);
    const bool keyed = aggregation != nullptr;
    if (!keyed && !checker.check_value(copy)) return nullptr;
    s.error(tag, argument.where,
            fmt::format("{} argument #{} is incompatible with prototype:\n\tprototype: aggregation\n\t argument: {}", spell(call),
                        index + 1, keyed ? "aggregation with keys" : copy->type->name));
    return nullptr;
  }
  if (AggregationSymbol* known = s.symbols.find_aggregation(aggregation->name)) return known;
  s.error(Tag::D_AGG_UNDEF, argument.where, fmt::format("undefined aggregation: @{}", aggregation->name));
  return nullptr;
}

void check_statement(Statement& statement, std::vector<CheckedAction>& to, Session& s) {
  CheckedAction action;
  action.where = statement.where;
  if (check(statement, action, s)) to.push_back(std::move(action));
}

}  // namespace dvm::compiler
