// The tuple stack: keys and arguments, and calls. Tests: tests/golden/lower (tst.calls.d).
#include "compiler/ast/visitor.h"
#include "compiler/lower/expr_lowering.h"
#include "dvm/dif/subroutine.h"

namespace dvm::compiler {

using dif::Opcode;

namespace {

// Whether evaluating it pushes anything.
bool uses_tuple_stack(const Expr& e) {
  if (e.kind == ExprKind::Call || e.kind == ExprKind::Translate) return true;
  if (const auto* index = as<Index>(&e); index && !is_pointer(index->base->type)) return true;
  bool found = e.kind == ExprKind::Index;  // of a pointer that may itself be an element
  for_each_child(const_cast<Expr&>(e), [&](ExprPtr& child) { found = found || uses_tuple_stack(*child); });
  return found;
}

}  // namespace

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
  std::vector<Register> registers;
  for (size_t i = 0; i < early; i++) registers.push_back(canonical(*list[i]));
  for (size_t i = 0; i < list.size(); i++) push(*list[i], i < early ? registers[i] : canonical(*list[i]));
}

Value ExprLowering::lower_node(const Call& e) {
  push_all(e.arguments);
  return {out_.call(e.subroutine), !is_scalar(e.type) || resolve(*e.type).size >= 8};
}

}  // namespace dvm::compiler
