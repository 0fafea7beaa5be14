// stack(), ustack(), usym() and kin: actions that are also keys of aggregations. Tests: tests/golden/sema (err.D_STACK_*,
// err.D_USTACK_*, tst.stack_keys.d).
#include <fmt/format.h>

#include <algorithm>

#include "compiler/sema/check_action.h"
#include "compiler/sema/check_call.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/tables.h"

namespace dvm::compiler {

namespace {

// What these actions record has a type that no script can name; as a value it is void.
Type recorded(const char* name) {
  Type t;
  t.cls = TypeClass::void_, t.name = name;
  return t;
}
const Type kStack = recorded("stack"), kSymbol = recorded("_symaddr"), kUserSymbol = recorded("_usymaddr");

bool fail(Tag tag, const Expr& where, const char* message, Session& s) {
  s.error(tag, where.where, message);
  return false;
}

bool check_stack(Call& call, Session& s) {
  int64_t frames = 0;
  if (call.arguments.empty()) return true;
  if (call.arguments.size() > 1)
    return fail(Tag::D_STACK_PROTO, *call.arguments[1], "stack( ) prototype mismatch: too many arguments", s);
  if (positive_constant(*call.arguments[0], frames)) return true;
  return fail(Tag::D_STACK_SIZE, *call.arguments[0], "stack( ) size must be a non-zero positive integral constant expression", s);
}

bool check_ustack(Call& call, Session& s) {
  int64_t value = 0;
  if (!call.arguments.empty() && !positive_constant(*call.arguments[0], value))
    return fail(Tag::D_USTACK_FRAMES, *call.arguments[0], "ustack( ) argument #1 must be a non-zero positive integer constant",
                s);
  if (call.arguments.size() > 1 && (!constant(*call.arguments[1], value) || value < 0))
    return fail(Tag::D_USTACK_STRSIZE, *call.arguments[1], "ustack( ) argument #2 must be a positive integer constant", s);
  if (call.arguments.size() > 2)
    return fail(Tag::D_USTACK_PROTO, *call.arguments[2], "ustack( ) prototype mismatch: too many arguments", s);
  return true;
}

bool check_address(Call& call, Session& s) {
  ExprContext context(s);
  return check_prototype(context, spell(call), dif::ArgumentList("ptr"), call.arguments, call.where);
}

struct StackAction {
  dif::Action action;
  const Type* type;
  bool (*check)(Call&, Session&);
};
constexpr StackAction kStackActions[] = {
    {dif::Action::stack, &kStack, check_stack},        {dif::Action::ustack, &kStack, check_ustack},
    {dif::Action::jstack, &kStack, check_ustack},      {dif::Action::usym, &kUserSymbol, check_address},
    {dif::Action::umod, &kUserSymbol, check_address},  {dif::Action::uaddr, &kUserSymbol, check_address},
    {dif::Action::ufunc, &kUserSymbol, check_address}, {dif::Action::sym, &kSymbol, check_address},
    {dif::Action::func, &kSymbol, check_address},      {dif::Action::mod, &kSymbol, check_address},
};

const StackAction* find_stack_action(std::string_view name) {
  const dif::ActionInfo* action = find_by_name(dif::kActions, name);
  const StackAction* row = std::find_if(std::begin(kStackActions), std::end(kStackActions),
                                        [&](const StackAction& r) { return action && r.action == action->id; });
  return row == std::end(kStackActions) ? nullptr : row;
}

}  // namespace

bool is_key_action(std::string_view name) { return find_stack_action(name) != nullptr; }

bool check_key_action(Call& call, Session& s) {
  const StackAction& row = *find_stack_action(call.name);
  ExprContext context(s);
  for (ExprPtr& argument : call.arguments)
    if (!check_value(context, argument)) return false;
  call.type = row.type;
  return row.check(call, s);
}

}  // namespace dvm::compiler
