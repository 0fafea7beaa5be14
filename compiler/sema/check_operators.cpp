// Operators: what they take and what they make. Tests: tests/golden/sema.
#include <fmt/format.h>

#include "compiler/sema/check_types.h"
#include "compiler/sema/declare.h"
#include "compiler/sema/fold_constants.h"
#include "dvm/dif/instruction.h"

namespace dvm::compiler {

namespace {

std::vector<std::string> floating_hint(const Type* left, const Type* right) {
  for (const Type* t : {left, right})
    if (t && is_floating(t)) return {fmt::format("D computes with integers only: a {} can be declared and copied", t->name)};
  return {};
}

// Nothing can be added to it, nor can it be dereferenced as an object.
bool is_void_or_function_pointer(const Type* t) {
  return cls(t) == TypeClass::pointer && (is_void(target_of(t)) || is_function_type(target_of(t)));
}

bool points_to_void(const Type* t) { return is_pointer(t) && is_void(target_of(t)); }

// Pointers to types that are compatible; a string counts as an array of characters.
bool same_targets(const Type* l, const Type* r) {
  if (points_to_void(l) || points_to_void(r)) return true;
  if (is_string(l) || is_string(r)) return is_string_like(l) && is_string_like(r);
  return is_same(target_of(l), target_of(r));
}

bool is_address(const Type* t) { return is_pointer(t) || is_string(t); }

}  // namespace

bool ExprChecker::require(bool condition, Expr& e, Tag tag, const char* format, std::string_view op) {
  const auto* binary = as<Binary>(&e);
  const auto* unary = as<Unary>(&e);
  if (!condition)
    fail(e, tag, fmt::format(fmt::runtime(format), op),
         floating_hint(binary  ? binary->left->type
                       : unary ? unary->operand->type
                               : nullptr,
                       binary ? binary->right->type : nullptr));
  return condition;
}

void ExprChecker::incompatible(Expr& e, const Expr& left, std::string_view op, const Expr& right) {
  std::vector<std::string> hints = floating_hint(left.type, right.type);
  for (const Expr* side : {&left, &right}) {
    const Expr* other = side == &left ? &right : &left;
    if (is_address(side->type) && is_integer(other->type) && cls(side->type) == TypeClass::pointer)
      hints.push_back(is_void_or_function_pointer(side->type) && (op == "+" || op == "-")
                          ? fmt::format("what it points at has no size: (char *)pointer {} n", op)
                          : fmt::format("a cast makes an address of the integer: ({})", side->type->name));
  }
  fail(e, Tag::D_OP_INCOMPAT,
       fmt::format("operands have incompatible types: \"{}\" {} \"{}\"", left.type->name, op, right.type->name),
       std::move(hints));
}

// Pointers to the same type or to void, or a pointer and the constant 0; a string counts as a pointer to its characters.
bool ExprChecker::pointers_match(const Expr& left, const Expr& right) const {
  const bool l = is_address(left.type), r = is_address(right.type);
  if (l && r) return (is_pointer(left.type) || is_pointer(right.type)) && same_targets(left.type, right.type);
  const bool mixed = (l && is_integer(right.type)) || (r && is_integer(left.type));
  return mixed && (left.is_zero_constant || right.is_zero_constant);  // NULL goes with integers too
}

bool ExprChecker::is_compatible(const Type* formal, const Expr& actual) const {
  const Type* t = actual.type;
  if (is_integer(formal)) return is_integer(t) || is_pointer(t);
  if (is_string(formal)) return is_string_like(t) || (is_pointer(t) && actual.is_zero_constant);
  if (is_char_pointer(formal) && is_string(t)) return true;
  if (is_pointer(formal)) {
    if (is_integer(t)) return true;
    if (is_string(t)) return is_void(target_of(formal));
    if (!is_pointer(t)) return false;
    return same_targets(formal, t);
  }
  return is_same(formal, t) && !is_void(t);
}

void ExprChecker::check_counted(Expr& e, ExprPtr& operand, Op op) {
  declare_counted(*operand);
  check(operand);
  const Type* t = operand->type;
  if (is_error(t)) return fail(e);
  if (cls(t) == TypeClass::pointer && !s_.is_defined(target_of(t))) return incomplete(e, token(op), target_of(t));
  if (require(is_integer(t) || cls(t) == TypeClass::pointer, e, Tag::D_OP_SCALAR, "operator {} requires operand of scalar type",
              token(op)) &&
      require(!is_void_or_function_pointer(t), e, Tag::D_OP_VFPTR, "operator {} requires an operand of known size", token(op)) &&
      check_lvalue(*operand, e, token(op)))
    e.type = t;
}

ExprPtr ExprChecker::check(Unary& e) {
  if (e.op == Op::increment || e.op == Op::decrement) {
    check_counted(e, e.operand, e.op);
    return nullptr;
  }
  e.op == Op::address_of ? check_place(e.operand) : check(e.operand);
  const Type* t = e.operand->type;
  if (is_error(t)) {
    fail(e);
    return nullptr;
  }
  if (e.op == Op::dereference) return dereference(e);
  if (e.op == Op::address_of) return address_of(e);
  if (e.op == Op::logical_not) {
    if (require(is_scalar(t), e, Tag::D_OP_SCALAR, "operator {} requires an operand of scalar type", token(e.op)))
      e.type = s_.types.basic("int");
  } else if (e.op == Op::complement) {
    if (require(is_integer(t), e, Tag::D_OP_INT, "operator {} requires an operand of integral type", token(e.op)))
      e.type = s_.types.promote(t);
  } else if (require(is_integer(t), e, Tag::D_OP_ARITH, "operator {} requires an operand of arithmetic type", token(e.op))) {
    e.type = s_.types.promote(t);
  }
  return is_error(e.type) ? nullptr : fold(e);
}

ExprPtr ExprChecker::dereference(Unary& e) {
  const Type* t = e.operand->type;
  if (e.operand->kind == ExprKind::Translate && is_pointer(t)) {  // the structure itself
    e.operand->type = target_of(t);
    return std::move(e.operand);
  }
  if (!is_pointer(t)) {
    std::vector<std::string> hints;
    if (is_integer(t)) hints.push_back("an address needs a type: *(int *)address");
    fail(e, Tag::D_DEREF_NONPTR, "cannot dereference non-pointer type", std::move(hints));
  } else if (is_void(target_of(t))) {
    fail(e, Tag::D_DEREF_VOID, "cannot dereference pointer to void");
  } else if (is_function_type(target_of(t))) {
    fail(e, Tag::D_DEREF_FUNC, "cannot dereference pointer to function");
  } else if (!s_.is_defined(target_of(t))) {
    incomplete(e, token(Op::dereference), target_of(t));
  } else {
    e.type = target_of(t), e.is_lvalue = true, e.is_user = e.operand->is_user;
  }
  return nullptr;
}

// A variable has no address, but what lies in it has.
ExprPtr ExprChecker::address_of(Unary& e) {
  const Expr& operand = *e.operand;
  const auto* member = as<Member>(&operand);
  const auto* index = as<Index>(&operand);
  if (operand.kind == ExprKind::Identifier || operand.kind == ExprKind::Scoped || (index && !is_pointer(index->base->type)))
    fail(e, Tag::D_ADDROF_VAR, "cannot take address of dynamic variable");
  else if (!operand.is_lvalue)
    fail(e, Tag::D_ADDROF_LVAL, "unacceptable operand for unary & operator");
  else if (member && member->field->bits)
    fail(e, Tag::D_ADDROF_BITFIELD, "cannot take address of bit-field");
  else
    e.type = s_.types.pointer_to(operand.type), e.is_user = operand.is_user;
  return nullptr;
}

ExprPtr ExprChecker::check(Postfix& e) {
  check_counted(e, e.operand, e.op);
  return nullptr;
}

// `x == TAG` where x has an enumeration of the program: TAG is one of its enumerators, and needs no backquote. Anywhere else a
// bare name is a variable of D, so that a misspelt variable never becomes a constant of some library. False: ambiguous, and
// reported.
bool ExprChecker::resolve_enumerator(Binary& e) {
  const auto* name = as<Identifier>(e.right.get());
  const bool compares = e.op >= Op::less && e.op <= Op::not_equal;
  if (!name || !compares || cls(e.left->type) != TypeClass::enumeration) return true;
  ExprPtr enumerator = target_constant(name->where, "", name->name);
  if (!enumerator || !is_same(enumerator->type, e.left->type)) return true;
  const Symbol* symbol = s_.symbols.find(dif::Scope::global, name->name);
  if (!symbol) {
    e.right = std::move(enumerator);
    return true;
  }
  fail(e);
  fail(*e.right, Tag::D_IDENT_AMBIG,
       fmt::format("ambiguous use of operator {}: {} is both a {} enum tag and a global {}", token(e.op), name->name,
                   e.left->type->name, symbol->is_array ? "array" : "scalar"),
       {fmt::format("the program's is `{}", name->name)});
  return false;
}

ExprPtr ExprChecker::check(Binary& e) {
  check(e.left);
  if (!resolve_enumerator(e)) return nullptr;
  check(e.right);
  if (is_error(e.left->type) || is_error(e.right->type)) {
    fail(e);
    return nullptr;
  }
  switch (e.op) {
    case Op::logical_and:
    case Op::logical_or:
    case Op::logical_xor:
      check_logical(e);
      break;
    case Op::remainder:
    case Op::bit_and:
    case Op::bit_or:
    case Op::bit_xor:
    case Op::shift_left:
    case Op::shift_right:
      check_bitwise(e);
      break;
    case Op::multiply:
    case Op::divide:
      check_arithmetic(e);
      break;
    case Op::add:
    case Op::subtract:
      check_additive(e);
      break;
    default:
      check_comparison(e);
      break;
  }
  return is_error(e.type) ? nullptr : fold(e, s_);
}

void ExprChecker::check_logical(Binary& e) {
  if (require(is_scalar(e.left->type) && is_scalar(e.right->type), e, Tag::D_OP_SCALAR,
              "operator {} requires operands of scalar type", token(e.op)))
    e.type = s_.types.basic("int");
}

void ExprChecker::check_bitwise(Binary& e) {
  if (!require(is_integer(e.left->type) && is_integer(e.right->type), e, Tag::D_OP_INT,
               "operator {} requires operands of integral type", token(e.op)))
    return;
  const bool shift = e.op == Op::shift_left || e.op == Op::shift_right;
  e.type = shift ? s_.types.promote(e.left->type) : s_.types.common(e.left->type, e.right->type);
}

void ExprChecker::check_arithmetic(Binary& e) {
  if (require(is_integer(e.left->type) && is_integer(e.right->type), e, Tag::D_OP_ARITH,
              "operator {} requires operands of arithmetic type", token(e.op)))
    e.type = s_.types.common(e.left->type, e.right->type);
}

void ExprChecker::check_additive(Binary& e) {
  const Type *l = e.left->type, *r = e.right->type;
  const bool left_steps = is_address(l) && !is_void_or_function_pointer(l);
  const bool right_steps = is_address(r) && !is_void_or_function_pointer(r);
  if (is_integer(l) && is_integer(r)) {
    e.type = s_.types.common(l, r);
  } else if (left_steps && is_integer(r)) {
    e.type = is_array(l) ? s_.types.pointer_to(target_of(l)) : l;
  } else if (is_integer(l) && right_steps && e.op == Op::add) {
    e.type = is_array(r) ? s_.types.pointer_to(target_of(r)) : r;
  } else if (left_steps && right_steps && e.op == Op::subtract && same_targets(l, r)) {
    e.type = s_.types.basic("ptrdiff_t");
  } else {
    incompatible(e, *e.left, token(e.op), *e.right);
    return;
  }
  e.is_user = (is_pointer(l) && e.left->is_user) || (is_pointer(r) && e.right->is_user);
  for (ExprPtr* side : {&e.left, &e.right}) {
    if (is_string((*side)->type)) *side = convert(std::move(*side), s_.types.pointer_to(s_.types.basic("char")));
    if (is_pointer((*side)->type) && !s_.is_defined(target_of((*side)->type)))
      incomplete(e, token(e.op), target_of((*side)->type));
  }
}

void ExprChecker::check_comparison(Binary& e) {
  const Type *l = e.left->type, *r = e.right->type;
  const bool integers = is_integer(l) && is_integer(r);
  const bool strings = is_string_like(l) && is_string_like(r) && (is_string(l) || is_string(r));
  if (!integers && !strings && !pointers_match(*e.left, *e.right)) return incompatible(e, *e.left, token(e.op), *e.right);
  if (strings && (is_string(e.left->type) || is_string(e.right->type)))
    for (ExprPtr* side : {&e.left, &e.right}) *side = convert(std::move(*side), s_.types.basic("string"));
  e.type = s_.types.basic("int");
}

// C's rules, and strings from and to what has characters.
bool ExprChecker::is_assignable(const Type* to, const Expr& value) const {
  if (is_integer(to)) return is_integer(value.type) || (is_pointer(value.type) && value.is_zero_constant);
  if (is_string_like(to) && is_string_like(value.type)) return true;
  if (!is_address(to)) return is_same(to, value.type) && !is_void(to);
  if (is_address(value.type)) return same_targets(to, value.type);
  return is_integer(value.type) && value.is_zero_constant;
}

bool ExprChecker::check_lvalue(Expr& target, Expr& operation, std::string_view op) {
  const auto* name = as<Identifier>(&target);
  const auto* index = as<Index>(&target);
  if (!name && index) name = as<Identifier>(index->base.get());
  if (name && name->symbol && name->symbol->kind == SymbolKind::built_in) {
    fail(operation, Tag::D_OP_WRITE, fmt::format("operator {} can only be applied to a writable variable", op));
    return false;
  }
  if (!check_own_memory(target, operation, op)) return false;
  if (target.is_lvalue) return true;
  fail(operation, Tag::D_OP_LVAL, fmt::format("operator {} requires modifiable lvalue as an operand", op));
  return false;
}

// x++ of a name not seen before makes it an int64_t, as does x[keys]++.
void ExprChecker::declare_counted(Expr& operand) {
  auto* element = as<Index>(&operand);
  dif::Scope scope;
  std::string name;
  if (!names_variable(element ? *element->base : operand, scope, name) || s_.symbols.find(scope, name)) return;
  if (!declare_first(element, scope, name, s_.types.basic("int64_t"), operand.where)) forget(operand);
}

// The types of the keys of an array that is assigned for the first time. False after a diagnostic.
bool ExprChecker::first_keys(Index& element, const std::string& name, std::vector<const Type*>& types) {
  for (ExprPtr& key : element.arguments) {
    if (!check_value(key)) return false;
    if (!is_key(key->type)) {
      s_.error(Tag::D_KEY_TYPE, key->where,
               fmt::format("{} expression may not be used as {}[ ] index: key #{}", key->type->name, name, types.size() + 1));
      return false;
    }
    types.push_back(key->type);
  }
  if (types.size() <= dif::kTupleDepth) return true;
  s_.error(Tag::D_PROTO_LEN, element.where,
           fmt::format("{}[ ] has too many keys: at most {} are possible", name, dif::kTupleDepth));
  return false;
}

// A variable, or an element's array, by its first use. False after a diagnostic.
bool ExprChecker::declare_first(Index* element, dif::Scope scope, const std::string& name, const Type* type, Location where) {
  const std::string spelled = fmt::format("{}{}", prefix(scope), name);
  if (!has_room(scope, name, where, s_)) return false;
  if (element && scope == dif::Scope::clause) {
    s_.error(Tag::D_ARR_LOCAL, where, fmt::format("local variables may not be used as associative arrays: {}", spelled),
             {"use a global or thread-local array"});
    return false;
  }
  std::vector<const Type*> keys;
  if (element && !first_keys(*element, spelled, keys)) return false;
  Symbol& symbol = s_.symbols.add_variable(scope, name, type);
  symbol.is_array = element != nullptr;
  symbol.keys = std::move(keys);
  return true;
}

// The variable that an assignment declares by being the first: a scalar, or with = an associative array.
bool ExprChecker::declare_target(Assign& e) {
  auto* element = as<Index>(e.target.get());
  dif::Scope scope;
  std::string name;
  if (!names_variable(element ? *element->base : *e.target, scope, name) || s_.symbols.find(scope, name)) return true;
  if (element && e.op != Op::assign) return true;  // diagnosed as undeclared where it is read
  if (is_void(e.value->type)) return incompatible(e, *e.value, token(Op::assign), *e.value), false;
  if (is_array(e.value->type)) return array_target(e, e.value->type), false;
  return declare_first(element, scope, name, e.value->type, e.where);
}

void ExprChecker::array_target(Assign& e, const Type* type) {
  std::vector<std::string> hints;
  if (resolve(*target_of(type)).is_char) hints.push_back("stringof() makes a string of characters");
  hints.push_back("&array[0] is the address of an array's elements");
  fail(e, Tag::D_OP_ARRFUN, fmt::format("operator = may not be applied to operand of type \"{}\"", type->name), std::move(hints));
}

// A variable whose first assignment is wrong stays unknown; who reads it later is not told again.
void ExprChecker::forget(const Expr& target) {
  const auto* element = as<Index>(&target);
  dif::Scope scope;
  std::string name;
  if (names_variable(element ? *element->base : target, scope, name)) (void)s_.is_new_unknown(scope, name);
}

ExprPtr ExprChecker::check(Assign& e) {
  if (auto* aggregation = as<Aggregation>(e.target.get())) {
    fail(e, Tag::D_AGG_NULL, fmt::format("aggregation @{} may only be assigned in a statement of its own", aggregation->name));
    return nullptr;
  }
  check(e.value);
  if (is_error(e.value->type) || !declare_target(e)) {
    forget(*e.target);
    fail(e);
    return nullptr;
  }
  check(e.target);
  const std::string op = e.op == Op::assign ? "=" : std::string(token(e.op)) + "=";
  if (is_error(e.target->type)) {
    fail(e);
    return nullptr;
  }
  e.type = e.target->type;
  if (check_operands(e, op) && check_lvalue(*e.target, e, op) && (e.op == Op::divide || e.op == Op::remainder) &&
      as<Integer>(e.value.get()) && e.value->is_zero_constant)
    fail(e, Tag::D_DIV_ZERO, "expression contains division by zero");
  else if (is_string(e.target->type) && !is_error(e.type))
    e.value = convert(std::move(e.value), e.target->type);
  return nullptr;
}

// Whether the types of target and value go with the operator.
bool ExprChecker::check_operands(Assign& e, std::string_view op) {
  const Type *to = e.target->type, *from = e.value->type;
  const bool integers = is_integer(to) && is_integer(from);
  switch (e.op) {
    case Op::assign:
      if (is_array(to)) return array_target(e, to), false;
      if (!is_assignable(to, *e.value)) return incompatible(e, *e.target, op, *e.value), false;
      return true;
    case Op::add:
    case Op::subtract:
      if (integers) return true;
      if (is_string(to) || is_string(from)) return incompatible(e, *e.target, op, *e.value), false;
      if (!require(cls(to) == TypeClass::pointer && !is_void_or_function_pointer(to), e, Tag::D_OP_VFPTR,
                   "operator {} requires left-hand scalar operand of known size", op))
        return false;
      if (!s_.is_defined(target_of(to))) return incomplete(e, op, target_of(to)), false;
      if (!is_integer(from)) return incompatible(e, *e.target, op, *e.value), false;
      return true;
    case Op::multiply:
    case Op::divide:
      return require(integers, e, Tag::D_OP_ARITH, "operator {} requires operands of arithmetic type", op);
    default:
      return require(integers, e, Tag::D_OP_INT, "operator {} requires operands of integral type", op);
  }
}

}  // namespace dvm::compiler
