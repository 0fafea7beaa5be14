// The tuple stack: keys and arguments, and calls. Tests: tests/golden/lower (tst.calls.d).
#include "compiler/ast/visitor.h"
#include "compiler/lower/expr_lowering.h"
#include "dvm/dif/subroutine.h"

namespace dvm::compiler {

using dif::Opcode;

namespace {

// True if its evaluation pushes to the tuple stack.
bool uses_tuple_stack(const Expr& e) {
  if (e.kind == ExprKind::Call || e.kind == ExprKind::Translate || reads_string(e)) return true;
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

void ExprLowering::push(const Expr& e, Register reg) {
  if (is_string(e.type)) return out_.push_string(reg);
  out_.push_value(reg);
}

// All that needs the tuple stack is evaluated before the first push; what follows is evaluated when its turn comes, so that
// registers suffice for long keys.
void ExprLowering::push_all(const std::vector<ExprPtr>& list) {
  size_t early = 0;
  for (size_t i = 0; i < list.size(); i++)
    if (uses_tuple_stack(*list[i])) early = i + 1;
  const std::vector<Register> registers = evaluate({list.data(), early});
  for (size_t i = 0; i < list.size(); i++) push(*list[i], i < early ? registers[i] : fitting(*list[i]));
}

std::vector<Register> ExprLowering::evaluate(std::span<const ExprPtr> list) {
  std::vector<Register> registers;
  for (const ExprPtr& e : list) registers.push_back(fitting(*e));
  return registers;
}

void ExprLowering::push_held(const std::vector<ExprPtr>& list, const std::vector<Register>& registers) {
  for (size_t i = 0; i < list.size(); i++) push(*list[i], registers[i]);
}

LoweredValue ExprLowering::call_copy(dif::Subroutine subroutine, Register address, std::optional<uint64_t> size) {
  out_.push_value(address);
  if (size) out_.push_value(out_.integer(*size));
  return {out_.call(static_cast<unsigned>(subroutine))};
}

// A pointer is followed to the NUL, an array not beyond its end.
LoweredValue ExprLowering::copy_in_string(const Expr& e) {
  const uint64_t size = resolve(*e.type).size;
  return call_copy(dif::Subroutine::copyinstr, number(e), is_array(e.type) && size != 0 ? std::optional(size + 1) : std::nullopt);
}

LoweredValue ExprLowering::copy_in(const Expr& e) {
  return call_copy(dif::Subroutine::copyin, address_of(e), resolve(*e.type).size);
}

LoweredValue ExprLowering::lower_value(const Expr& e) { return is_user_object(e) ? copy_in(e) : lower(e); }

LoweredValue ExprLowering::lower_node(const Call& e) {
  push_all(e.arguments);
  const bool is_narrow = is_scalar(e.type) && resolve(*e.type).size < 8;
  return {out_.call(e.subroutine), is_narrow ? Held::number : Held::fitting};
}

}  // namespace dvm::compiler
