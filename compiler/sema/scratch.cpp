// Origins of pointers. Tests: tests/golden/sema (err.D_ALLOCA_INCOMPAT.*.d, err.D_PROTO_ARG.scratch.d).
#include "compiler/sema/scratch.h"

#include "compiler/types/symbols.h"
#include "dvm/dif/subroutine.h"

namespace dvm::compiler {

namespace {

Origin origin_of(const Call& e) {
  const auto subroutine = static_cast<dif::Subroutine>(e.subroutine);
  const bool is_scratch = subroutine == dif::Subroutine::alloca || subroutine == dif::Subroutine::copyin;
  return is_scratch ? Origin::scratch : Origin::unknown;
}

// NULL goes with both.
Origin joined(Origin a, Origin b) { return a == b || b == Origin::unknown ? a : a == Origin::unknown ? b : Origin::unknown; }

bool is_mixed(const Conditional& e) {
  const Origin then = origin_of(*e.then), otherwise = origin_of(*e.otherwise);
  return then != otherwise && then != Origin::unknown && otherwise != Origin::unknown;
}

}  // namespace

Symbol* variable_of(const Expr& e) {
  if (const auto* index = as<Index>(&e)) {
    Symbol* array = variable_of(*index->base);
    return array && array->is_array ? array : nullptr;
  }
  const auto* name = as<Identifier>(&e);
  const auto* scoped = as<Scoped>(&e);
  Symbol* symbol = name ? name->symbol : scoped ? scoped->symbol : nullptr;
  return symbol && symbol->kind == SymbolKind::variable ? symbol : nullptr;
}

namespace {

// Finds where an object lies. A variable, or a part of one, never lies in scratch.
Origin origin_of_object(const Expr& e) {
  if (const auto* member = as<Member>(&e)) return member->arrow ? origin_of(*member->base) : origin_of_object(*member->base);
  if (const auto* index = as<Index>(&e); index && !variable_of(e) && index->base->type)
    return is_array(index->base->type) ? origin_of_object(*index->base) : origin_of(*index->base);
  if (const auto* unary = as<Unary>(&e); unary && unary->op == Op::dereference) return origin_of(*unary->operand);
  return variable_of(e) ? Origin::elsewhere : Origin::unknown;
}

// A pointer that is made from an object: &object, or an array that is a member or an element.
bool is_of_object(const Expr& e) {
  const bool is_part = as<Member>(&e) || (as<Index>(&e) && !variable_of(e));
  return is_part && e.type && is_array(e.type);
}

}  // namespace

Origin origin_of(const Expr& e) {
  if (const auto* unary = as<Unary>(&e); unary && unary->op == Op::address_of) return origin_of_object(*unary->operand);
  if (is_of_object(e)) return origin_of_object(e);
  if (const auto* call = as<Call>(&e)) return origin_of(*call);
  if (const auto* cast = as<Cast>(&e)) return origin_of(*cast->operand);
  if (const auto* step = as<Postfix>(&e)) return origin_of(*step->operand);
  if (const auto* assign = as<Assign>(&e)) return origin_of(*assign->target);
  if (const auto* comma = as<Comma>(&e)) return origin_of(*comma->second);
  if (const auto* sum = as<Binary>(&e)) return origin_of(is_pointer(sum->left->type) ? *sum->left : *sum->right);
  if (const auto* choice = as<Conditional>(&e)) return joined(origin_of(*choice->then), origin_of(*choice->otherwise));
  if (e.kind == ExprKind::Integer) return e.is_zero_constant ? Origin::unknown : Origin::elsewhere;
  const Symbol* symbol = variable_of(e);
  if (!symbol || !is_pointer(symbol->type)) return Origin::unknown;
  if (resolve(*symbol->type).cls == TypeClass::array) return Origin::elsewhere;
  return symbol->holds_scratch ? Origin::scratch : symbol->leads_elsewhere ? Origin::elsewhere : Origin::unknown;
}

bool note_origin(const Assign& e) {
  const Expr* value = e.value.get();
  while (const auto* cast = as<Cast>(value)) value = cast->operand.get();
  if (const auto* choice = as<Conditional>(value); choice && is_mixed(*choice)) return false;
  if (Symbol* symbol = variable_of(*e.target); symbol && e.op == Op::assign) {
    const Origin origin = origin_of(*value);
    symbol->holds_scratch |= origin == Origin::scratch;
    symbol->leads_elsewhere |= origin == Origin::elsewhere;
  }
  return true;
}

}  // namespace dvm::compiler
