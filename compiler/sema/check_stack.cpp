// stack(), ustack(), usym() and others: actions that are also keys of aggregations. Tests: tests/golden/sema (err.D_STACK_*,
// err.D_USTACK_*, tst.kept_stack.d).
#include <fmt/format.h>

#include <algorithm>

#include "compiler/sema/check_action.h"
#include "compiler/sema/check_call.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/convert.h"
#include "compiler/sema/tables.h"

namespace dvm::compiler {

namespace {

constexpr int64_t kMostKeptFrames = 127;  // an instrument captures no more

// What these actions record has a type that no script can name; as a value it is void.
Type recorded(const char* name, bool is_stack = false) {
  Type t;
  t.cls = TypeClass::void_, t.name = name, t.is_stack = is_stack;
  return t;
}
const Type kStack = recorded("stack", true), kSymbol = recorded("_symaddr"), kUserSymbol = recorded("_usymaddr");

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

ExprPtr check_kept_stack(ExprContext& c, Call& call) {
  for (ExprPtr& argument : call.arguments) check(c, argument);
  int64_t frames = 0;
  if (has_error(call.arguments)) {
    fail(c, call);
  } else if (call.arguments.empty() || !positive_constant(*call.arguments[0], frames) || frames > kMostKeptFrames) {
    fail(c, call, Tag::D_USTACK_FRAMES,
         fmt::format("ustack( ) in an expression needs its number of frames: a constant from 1 to {}", kMostKeptFrames));
  } else if (call.arguments.size() > 1) {
    fail(c, call, Tag::D_USTACK_PROTO, "ustack( ) prototype mismatch: too many arguments");
  } else {
    call.arguments[0] = convert(std::move(call.arguments[0]), c.types.basic("uint64_t"));
    call.subroutine = static_cast<unsigned>(dif::Subroutine::dvm_ustack);
    call.type = c.types.kept_stack(static_cast<uint64_t>(frames));
  }
  return nullptr;
}

bool check_key_action(Call& call, Session& s) {
  const StackAction& row = *find_stack_action(call.name);
  ExprContext context(s);
  for (ExprPtr& argument : call.arguments)
    if (!check_value(context, argument)) return false;
  call.type = row.type;
  return row.check(call, s);
}

}  // namespace dvm::compiler
