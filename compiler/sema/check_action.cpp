// Actions by the rows of actions.def. Tests: tests/golden/sema.
#include "compiler/sema/check_action.h"

#include <fmt/format.h>

#include "compiler/sema/check_call.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/check_operators.h"
#include "compiler/sema/describe_layout.h"
#include "compiler/sema/tables.h"

namespace dvm::compiler {

namespace {

bool wrong(Tag tag, const Expr& where, std::string message, Session& s) {
  s.error(tag, where.where, std::move(message));
  return false;
}

// Actions whose row in actions.def says all about their arguments.
bool check_fixed(Call& call, CheckedAction& action, Session& s) {
  ExprContext context(s);
  for (ExprPtr& argument : call.arguments) check(context, argument);
  const dif::ActionInfo& row = *dif::find_action(action.kind);
  if (!check_prototype(context, spell(call), row.arguments, call.arguments, call.where)) return false;
  for (ExprPtr& argument : call.arguments) action.args.push_back(std::move(argument));
  return true;
}

// trace and print: an expression with a value of its own.
bool check_traced(Call& call, CheckedAction& action, Session& s) {
  if (!check_count(call, {1, 1}, Tag::D_PROTO_LEN, s)) return false;
  const bool is_trace = action.kind == dif::Action::trace;
  ExprPtr& value = call.arguments[0];
  if (value->kind == ExprKind::Aggregation) {
    s.error(is_trace ? Tag::D_TRACE_DYN : Tag::D_PRINT_AGG, value->where,
            fmt::format("{} may not be applied to {}", spell(call), is_trace ? "a dynamic expression" : "an aggregation"),
            {"aggregations are printed with printa()"});
    return false;
  }
  ExprContext context(s);
  if (!check_value(context, value)) return false;
  if (is_void(value->type) || (!is_trace && is_kept_stack(value->type)))
    return wrong(is_trace ? Tag::D_TRACE_VOID : Tag::D_PRINT_VOID, *value,
                 fmt::format("{} may not be applied to a {}", spell(call),
                             is_void(value->type) ? "void expression" : "stack, which printf( ) prints with %k"),
                 s);
  if (!is_trace) action.layout = describe_layout(value->type, s);
  action.args.push_back(std::move(value));
  return true;
}

// tracemem(address, bytes at most, how many of them).
bool check_tracemem(Call& call, CheckedAction& action, Session& s) {
  std::vector<ExprPtr>& a = call.arguments;
  if (!check_count(call, {2, SIZE_MAX}, Tag::D_PROTO_LEN, s)) return false;
  ExprContext context(s);
  for (ExprPtr& argument : a)
    if (!check_value(context, argument)) return false;
  int64_t most = 0;
  if (!is_scalar(a[0]->type)) return wrong_argument(Tag::D_TRACEMEM_ADDR, call, 0, "pointer or integer", s);
  if (!positive_constant(*a[1], most))
    return wrong(Tag::D_TRACEMEM_SIZE, *a[1], "tracemem( ) argument #2 must be a non-zero positive integral constant expression",
                 s);
  if (a.size() > 3) return wrong(Tag::D_TRACEMEM_ARGS, *a[3], "tracemem( ) prototype mismatch: expected at most 3 args", s);
  if (a.size() == 3 && !is_scalar(a[2]->type))
    return wrong(Tag::D_TRACEMEM_DYNSIZE, *a[2], "tracemem( ) dynamic size (argument #3) must be of scalar type", s);
  action.parameters = {most};
  action.args.push_back(std::move(a[0]));
  if (a.size() == 3) action.args.push_back(std::move(a[2]));
  return true;
}

bool check_format(Call& call, CheckedAction& action, Session& s) {
  ExprContext context(s);
  for (ExprPtr& argument : call.arguments) {
    if (argument->kind == ExprKind::Aggregation) {
      s.error(Tag::D_PRINTF_AGG_CONV, argument->where, fmt::format("{} may not be applied to an aggregation", spell(call)),
              {"aggregations are printed with printa()"});
      return false;
    }
    if (!check_value(context, argument)) return false;
  }
  if (!check_printf(call, action, s)) return false;
  for (size_t i = 1; i < call.arguments.size(); i++) action.args.push_back(std::move(call.arguments[i]));
  return true;
}

// An empty name gives the output back, and a program spells that ".".
bool check_freopen(Call& call, CheckedAction& action, Session& s) {
  auto* name = call.arguments.empty() ? nullptr : as<String>(call.arguments[0].get());
  if (name && name->value == ".") return wrong(Tag::D_FREOPEN_INVALID, *name, "freopen( ) argument #1 cannot be \".\"", s);
  if (name && name->value.empty()) name->value = ".";
  return check_format(call, action, s);
}

struct ActionCheck {
  dif::Action action;
  bool (*check)(Call&, CheckedAction&, Session&);
};
constexpr ActionCheck kChecks[] = {
    {dif::Action::trace, check_traced},          {dif::Action::print, check_traced},  {dif::Action::tracemem, check_tracemem},
    {dif::Action::printf, check_format},         {dif::Action::system, check_format}, {dif::Action::freopen, check_freopen},
    {dif::Action::printa, check_printa},         {dif::Action::clear, check_clear},   {dif::Action::normalize, check_normalize},
    {dif::Action::denormalize, check_normalize}, {dif::Action::trunc, check_trunc},
};

bool check_call(ExprPtr& expr, const dif::ActionInfo& row, CheckedAction& action, Session& s) {
  Call& call = *as<Call>(expr.get());
  action.kind = row.id;
  if (is_key_action(row.name)) {
    if (!check_key_action(call, s)) return false;
    action.args.push_back(std::move(expr));
    return true;
  }
  for (const ActionCheck& c : kChecks)
    if (c.action == row.id) return c.check(call, action, s);
  return check_fixed(call, action, s);
}

bool check_expression(ExprPtr& expr, CheckedAction& action, Session& s) {
  ExprContext context(s);
  if (!check_value(context, expr)) return false;
  if (const Call* nested = context.nested_action) return fail_in_expression(*nested, s);
  action.args.push_back(std::move(expr));
  return true;
}

// In $1 ? printf(...) : printf(...), one branch becomes the statement.
void choose_branch(ExprPtr& expr, Session& s) {
  while (auto* conditional = as<Conditional>(expr.get())) {
    ExprContext context(s);
    check(context, conditional->condition);
    ExprPtr chosen = chosen_branch(context, *conditional);
    if (!chosen) return;
    expr = std::move(chosen);
  }
}

bool check(Statement& statement, CheckedAction& action, Session& s) {
  choose_branch(statement.expr, s);
  if (auto* assign = as<Assign>(statement.expr.get());
      assign && assign->target->kind == ExprKind::Aggregation && assign->op == Op::assign)
    return check_aggregation(*assign, action, s);
  if (auto* call = as<Call>(statement.expr.get()))
    if (const dif::ActionInfo* row = find_visible(dif::kActions, call->name, s))
      return check_call(statement.expr, *row, action, s);
  return check_expression(statement.expr, action, s);
}

}  // namespace

bool fail_in_expression(const Call& call, Session& s) {
  const bool is_action = find_by_name(dif::kActions, call.name) != nullptr;
  s.error(Tag::D_CG_EXPR, call.where,
          fmt::format("{} {} may not be called from a D expression (D program context required)",
                      is_action ? "tracing function" : "aggregating function", spell(call)),
          {is_action ? "an action must be a statement by itself" : fmt::format("write @ = {}(...)", call.name)});
  return false;
}

std::string spell(const Call& call) { return call.name + "( )"; }

bool wrong_argument(Tag tag, const Call& call, size_t index, std::string_view prototype, Session& s) {
  const Expr& argument = *call.arguments[index];
  s.error(tag, argument.where,
          fmt::format("{} argument #{} is incompatible with prototype:\n\tprototype: {}\n\t argument: {}", spell(call), index + 1,
                      prototype, argument.type->name));
  return false;
}

bool check_count(const Call& call, Arity arity, Tag tag, Session& s) {
  const size_t n = call.arguments.size();
  if (n >= arity.least && n <= arity.most) return true;
  const bool is_exact = arity.least == arity.most;
  const char* bound = is_exact ? "" : n < arity.least ? "at least " : "at most ";
  s.error(tag, call.where,
          fmt::format("{} prototype mismatch: {} arg{} passed, {}{} expected", spell(call), n, n == 1 ? "" : "s", bound,
                      n < arity.least ? arity.least : arity.most));
  return false;
}

bool positive_constant(const Expr& e, int64_t& value) { return constant(e, value) && value > 0; }

void check_statement(Statement& statement, std::vector<CheckedAction>& to, Session& s) {
  CheckedAction action;
  action.where = statement.where;
  if (check(statement, action, s)) to.push_back(std::move(action));
}

}  // namespace dvm::compiler
