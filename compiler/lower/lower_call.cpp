// The tuple stack: keys and arguments, and calls. Tests: tests/golden/lower (tst.calls.d).
#include "compiler/ast/visitor.h"
#include "compiler/lower/expr_lowering.h"
#include "dvm/dif/subroutine.h"

namespace dvm::compiler {

using dif::Opcode;

namespace {

// True if its evaluation pushes to the tuple stack.
bool uses_tuple_stack(const Expr& e) {
  if (e.kind == ExprKind::Call || e.kind == ExprKind::Translate || reads_string(e) || is_user_object(e)) return true;
  if (const auto* index = as<Index>(&e); index && !is_pointer(index->base->type)) return true;
  if (const auto* assign = as<Assign>(&e); assign && is_string(assign->target->type)) return true;  // strings are copied by calls
  bool found = e.kind == ExprKind::Index;  // of a pointer that may itself be an element
  for_each_child(const_cast<Expr&>(e), [&](ExprPtr& child) { found = found || uses_tuple_stack(*child); });
  return found;
}

}  // namespace

bool reads_string(const Expr& e) {
  const auto* cast = as<Cast>(&e);
  const auto* string_of = as<StringOf>(&e);
  const Expr* operand = cast ? cast->operand.get() : string_of ? string_of->operand.get() : nullptr;
  return operand && is_string(e.type) && !is_string(operand->type) && operand->is_user;
}

bool is_user_object(const Expr& e) { return e.is_user && is_by_reference(e.type); }

namespace {

void push(ExprLowering& c, const Expr& e, VirtualRegister reg) {
  if (is_string(e.type)) return c.out.push_string(reg);
  if (is_record(e.type)) return c.out.push_bytes(reg, c.out.integer(resolve(*e.type).size));
  c.out.push_value(reg);
}

// What is pushed for a key or argument: a structure of the traced process is copied in first.
VirtualRegister lower_pushed(ExprLowering& c, const Expr& e) {
  return is_record(e.type) ? lower_value(c, e).reg : lower_fitting(c, e);
}

}  // namespace

std::vector<VirtualRegister> lower_all(ExprLowering& c, std::span<const ExprPtr> list) {
  std::vector<VirtualRegister> registers;
  for (const ExprPtr& e : list) registers.push_back(lower_pushed(c, *e));
  return registers;
}

// All that needs the tuple stack is evaluated before the first push; what follows is evaluated when its turn comes, so that
// registers suffice for long keys.
void push_all(ExprLowering& c, const std::vector<ExprPtr>& list) {
  size_t early = 0;
  for (size_t i = 0; i < list.size(); i++)
    if (uses_tuple_stack(*list[i])) early = i + 1;
  const std::vector<VirtualRegister> registers = lower_all(c, {list.data(), early});
  for (size_t i = 0; i < list.size(); i++) push(c, *list[i], i < early ? registers[i] : lower_pushed(c, *list[i]));
}

void push_held(ExprLowering& c, const std::vector<ExprPtr>& list, const std::vector<VirtualRegister>& registers) {
  for (size_t i = 0; i < list.size(); i++) push(c, *list[i], registers[i]);
}

namespace {

LoweredValue call_copy(ExprLowering& c, dif::Subroutine subroutine, VirtualRegister address, std::optional<uint64_t> size) {
  c.out.push_value(address);
  if (size) c.out.push_value(c.out.integer(*size));
  return {c.out.call(static_cast<unsigned>(subroutine))};
}

LoweredValue copy_in(ExprLowering& c, const Expr& e) {
  return call_copy(c, dif::Subroutine::copyin, address_of(c, e), resolve(*e.type).size);
}

}  // namespace

// A pointer is followed to the NUL, an array not beyond its end.
LoweredValue copy_in_string(ExprLowering& c, const Expr& e) {
  const uint64_t size = resolve(*e.type).size;
  return call_copy(c, dif::Subroutine::copyinstr, lower_uncut(c, e),
                   is_array(e.type) && size != 0 ? std::optional(size + 1) : std::nullopt);
}

LoweredValue lower_value(ExprLowering& c, const Expr& e) { return is_user_object(e) ? copy_in(c, e) : lower(c, e); }

LoweredValue lower_node(ExprLowering& c, const StringOf& e) {
  return reads_string(e) ? copy_in_string(c, *e.operand) : lower(c, *e.operand);
}

LoweredValue lower_node(ExprLowering& c, const Call& e) {
  push_all(c, e.arguments);
  const bool is_narrow = is_scalar(e.type) && resolve(*e.type).size < 8;
  return {c.out.call(e.subroutine), is_narrow ? Held::number : Held::fitting};
}

}  // namespace dvm::compiler
