// Operators: what they take and what they make. Tests: tests/golden/sema.
#include "compiler/sema/check_operators.h"

#include <fmt/format.h>

#include "compiler/sema/check_assign.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/check_target.h"
#include "compiler/sema/compatible.h"
#include "compiler/sema/convert.h"
#include "compiler/sema/fold_constants.h"
#include "compiler/sema/macros.h"
#include "compiler/sema/operand_errors.h"
#include "compiler/sema/tables.h"
#include "dvm/dif/action.h"

namespace dvm::compiler {

namespace {

ExprPtr dereference(ExprContext& c, Unary& e) {
  const Type* t = e.operand->type;
  if (e.operand->kind == ExprKind::Translate && is_pointer(t)) {  // the structure itself
    e.operand->type = target_of(t);
    return std::move(e.operand);
  }
  if (!is_pointer(t)) {
    std::vector<std::string> hints;
    if (is_integer(t)) hints.push_back("cast the address to a pointer: *(int *)address");
    fail(c, e, Tag::D_DEREF_NONPTR, "cannot dereference non-pointer type", std::move(hints));
  } else if (is_void(target_of(t))) {
    fail(c, e, Tag::D_DEREF_VOID, "cannot dereference pointer to void");
  } else if (is_function_type(target_of(t))) {
    fail(c, e, Tag::D_DEREF_FUNC, "cannot dereference pointer to function");
  } else if (!c.session.is_defined(target_of(t))) {
    incomplete(c, e, token(Op::dereference), target_of(t));
  } else {
    e.type = target_of(t), e.is_lvalue = true, e.is_user = e.operand->is_user;
  }
  return nullptr;
}

// A variable has no address, but what lies in it has.
ExprPtr address_of(ExprContext& c, Unary& e) {
  const Expr& operand = *e.operand;
  const auto* member = as<Member>(&operand);
  const auto* index = as<Index>(&operand);
  if (operand.kind == ExprKind::Identifier || operand.kind == ExprKind::Scoped || (index && !is_pointer(index->base->type)))
    fail(c, e, Tag::D_ADDROF_VAR, "cannot take address of dynamic variable");
  else if (!operand.is_lvalue)
    fail(c, e, Tag::D_ADDROF_LVAL, "unacceptable operand for unary & operator");
  else if (member && member->field->bits)
    fail(c, e, Tag::D_ADDROF_BITFIELD, "cannot take address of bit-field");
  else
    e.type = c.types.pointer_to(operand.type), e.is_user = operand.is_user;
  return nullptr;
}

// `x == TAG` where x has an enumeration of the program: TAG is one of its enumerators, and needs no backquote. Anywhere else a
// bare name is a variable of D, so that a misspelt variable never becomes a constant of some library. False: ambiguous, and
// reported.
bool resolve_enumerator(ExprContext& c, Binary& e) {
  const auto* name = as<Identifier>(e.right.get());
  const bool compares = e.op >= Op::less && e.op <= Op::not_equal;
  if (!name || !compares || cls(e.left->type) != TypeClass::enumeration) return true;
  ExprPtr enumerator = target_constant(c, name->where, "", name->name);
  if (!enumerator || !is_same(enumerator->type, e.left->type)) return true;
  const Symbol* symbol = c.symbols.find(dif::Scope::global, name->name);
  if (!symbol) {
    e.right = std::move(enumerator);
    return true;
  }
  fail(c, e);
  fail(c, *e.right, Tag::D_IDENT_AMBIG,
       fmt::format("ambiguous use of operator {}: {} is both a {} enum tag and a global {}", token(e.op), name->name,
                   e.left->type->name, symbol->is_array ? "array" : "scalar"),
       {fmt::format("the program's is `{}", name->name)});
  return false;
}

void check_logical(ExprContext& c, Binary& e) {
  if (require(c, is_scalar(e.left->type) && is_scalar(e.right->type), e, Tag::D_OP_SCALAR,
              "operator {} requires operands of scalar type", token(e.op)))
    e.type = c.types.basic("int");
}

void check_bitwise(ExprContext& c, Binary& e) {
  if (!require(c, is_integer(e.left->type) && is_integer(e.right->type), e, Tag::D_OP_INT,
               "operator {} requires operands of integral type", token(e.op)))
    return;
  const bool shift = e.op == Op::shift_left || e.op == Op::shift_right;
  e.type = shift ? c.types.promote(e.left->type) : c.types.common(e.left->type, e.right->type);
}

void check_arithmetic(ExprContext& c, Binary& e) {
  if (require(c, is_integer(e.left->type) && is_integer(e.right->type), e, Tag::D_OP_ARITH,
              "operator {} requires operands of arithmetic type", token(e.op)))
    e.type = c.types.common(e.left->type, e.right->type);
}

void check_additive(ExprContext& c, Binary& e) {
  const Type *l = e.left->type, *r = e.right->type;
  const bool left_steps = is_address(l) && !is_void_or_function_pointer(l);
  const bool right_steps = is_address(r) && !is_void_or_function_pointer(r);
  if (is_integer(l) && is_integer(r)) {
    e.type = c.types.common(l, r);
  } else if (left_steps && is_integer(r)) {
    e.type = is_array(l) ? c.types.pointer_to(target_of(l)) : l;
  } else if (is_integer(l) && right_steps && e.op == Op::add) {
    e.type = is_array(r) ? c.types.pointer_to(target_of(r)) : r;
  } else if (left_steps && right_steps && e.op == Op::subtract && same_targets(l, r)) {
    e.type = c.types.basic("ptrdiff_t");
  } else {
    incompatible(c, e, *e.left, token(e.op), *e.right);
    return;
  }
  e.is_user = (is_pointer(l) && e.left->is_user) || (is_pointer(r) && e.right->is_user);
  for (ExprPtr* side : {&e.left, &e.right}) {
    if (is_string((*side)->type)) *side = convert(std::move(*side), c.types.pointer_to(c.types.basic("char")));
    if (is_pointer((*side)->type) && !c.session.is_defined(target_of((*side)->type)))
      incomplete(c, e, token(e.op), target_of((*side)->type));
  }
}

void check_comparison(ExprContext& c, Binary& e) {
  const Type *l = e.left->type, *r = e.right->type;
  const bool integers = is_integer(l) && is_integer(r);
  const bool strings = is_string_like(l) && is_string_like(r) && (is_string(l) || is_string(r));
  if (!integers && !strings && !pointers_match(*e.left, *e.right)) return incompatible(c, e, *e.left, token(e.op), *e.right);
  if (strings && (is_string(e.left->type) || is_string(e.right->type)))
    for (ExprPtr* side : {&e.left, &e.right}) *side = convert(std::move(*side), c.types.basic("string"));
  e.type = c.types.basic("int");
}

}  // namespace

ExprPtr chosen_branch(ExprContext& c, Conditional& e) {
  int64_t value = 0;
  if (!constant(*e.condition, value)) return nullptr;
  use_macros(value != 0 ? *e.otherwise : *e.then, c.session);
  return std::move(value != 0 ? e.then : e.otherwise);
}

ExprPtr check(ExprContext& c, Aggregation& e) {
  fail(c, e, Tag::D_AGG_NULL, fmt::format("expression has null effect: @{}", e.name),
       {"assign an aggregating function: @name[keys] = count()"});
  return nullptr;
}

ExprPtr check(ExprContext& c, Comma& e) {
  if (is_dynamic(c, e, *e.first, *e.second, ",")) return nullptr;
  check(c, e.first);
  check(c, e.second);
  const auto is_action = [&c](const Expr& operand) {
    const auto* call = as<Call>(&operand);
    return call && find_visible(dif::kActions, call->name, c.session);
  };
  if (is_action(*e.first) || is_action(*e.second)) {
    fail(c, e, Tag::D_OP_ACT, "operator , operands cannot be actions", {"an action must be a statement by itself"});
    return nullptr;
  }
  e.type = is_error(e.first->type) ? c.types.error() : e.second->type;
  e.is_user = e.second->is_user;
  return nullptr;
}

ExprPtr check(ExprContext& c, Conditional& e) {
  if (is_dynamic(c, e, *e.then, *e.otherwise, "?:")) return nullptr;
  if (!e.condition->type) check(c, e.condition);  // that of a statement has been checked
  if (ExprPtr chosen = chosen_branch(c, e)) {
    check(c, chosen);
    return chosen;
  }
  check(c, e.then);
  check(c, e.otherwise);
  if (is_error(e.condition->type) || is_error(e.then->type) || is_error(e.otherwise->type)) {
    fail(c, e);
    return nullptr;
  }
  if (!is_scalar(e.condition->type)) {
    fail(c, e, Tag::D_OP_SCALAR, "operator ?: expression must be of scalar type");
    return nullptr;
  }
  if (c.nested_action && is_void(e.then->type) && is_void(e.otherwise->type))
    fail(c, e, Tag::D_OP_ACT, "action cannot be used in a conditional context", {"write if (condition) { ... } else { ... }"});
  else if (const Type* type = common_type(c, *e.then, *e.otherwise))
    e.type = type;
  else
    fail(c, e, Tag::D_OP_INCOMPAT, "operator ?: operands must have compatible types",
         {fmt::format("they are \"{}\" and \"{}\"", e.then->type->name, e.otherwise->type->name)});
  if (is_error(e.type)) return nullptr;
  e.is_user = e.then->is_user && e.otherwise->is_user;
  if (is_string(e.type))
    for (ExprPtr* side : {&e.then, &e.otherwise}) *side = convert(std::move(*side), e.type);
  return nullptr;
}

ExprPtr check(ExprContext& c, Unary& e) {
  if (e.op == Op::increment || e.op == Op::decrement) {
    check_counted(c, e, e.operand, e.op);
    return nullptr;
  }
  if (!as<Identifier>(e.operand.get())) declare_operand(c, *e.operand);  // a plain name only by ++ and --
  e.op == Op::address_of ? check_place(c, e.operand) : check(c, e.operand);
  const Type* t = e.operand->type;
  if (is_error(t)) {
    fail(c, e);
    return nullptr;
  }
  if (e.op == Op::dereference) return dereference(c, e);
  if (e.op == Op::address_of) return address_of(c, e);
  if (e.op == Op::logical_not) {
    if (require(c, is_scalar(t), e, Tag::D_OP_SCALAR, "operator {} requires an operand of scalar type", token(e.op)))
      e.type = c.types.basic("int");
  } else if (e.op == Op::complement) {
    if (require(c, is_integer(t), e, Tag::D_OP_INT, "operator {} requires an operand of integral type", token(e.op)))
      e.type = c.types.promote(t);
  } else if (require(c, is_integer(t), e, Tag::D_OP_ARITH, "operator {} requires an operand of arithmetic type", token(e.op))) {
    e.type = c.types.promote(t);
  }
  return is_error(e.type) ? nullptr : fold(e);
}

ExprPtr check(ExprContext& c, Binary& e) {
  check(c, e.left);
  if (!resolve_enumerator(c, e)) return nullptr;
  check(c, e.right);
  if (is_error(e.left->type) || is_error(e.right->type)) {
    fail(c, e);
    return nullptr;
  }
  switch (e.op) {
    case Op::logical_and:
    case Op::logical_or:
    case Op::logical_xor:
      check_logical(c, e);
      break;
    case Op::remainder:
    case Op::bit_and:
    case Op::bit_or:
    case Op::bit_xor:
    case Op::shift_left:
    case Op::shift_right:
      check_bitwise(c, e);
      break;
    case Op::multiply:
    case Op::divide:
      check_arithmetic(c, e);
      break;
    case Op::add:
    case Op::subtract:
      check_additive(c, e);
      break;
    default:
      check_comparison(c, e);
      break;
  }
  return is_error(e.type) ? nullptr : fold(e, c.session);
}

}  // namespace dvm::compiler
