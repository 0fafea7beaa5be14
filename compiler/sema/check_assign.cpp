// Operators that change their operand. Tests: tests/golden/sema.
#include "compiler/sema/check_assign.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/sema/check_expr.h"
#include "compiler/sema/check_name.h"
#include "compiler/sema/check_target.h"
#include "compiler/sema/compatible.h"
#include "compiler/sema/convert.h"
#include "compiler/sema/declare.h"
#include "compiler/sema/operand_errors.h"
#include "compiler/sema/scratch.h"
#include "dvm/dif/instruction.h"
#include "dvm/dif/variable.h"

namespace dvm::compiler {

namespace {

bool check_lvalue(ExprContext& c, Expr& target, Expr& operation, std::string_view op) {
  const auto* name = as<Identifier>(&target);
  const auto* index = as<Index>(&target);
  if (!name && index) name = as<Identifier>(index->base.get());
  if (name && name->symbol && name->symbol->kind == SymbolKind::built_in) {
    fail(c, operation, Tag::D_OP_WRITE, fmt::format("operator {} can only be applied to a writable variable", op));
    return false;
  }
  if (!check_own_memory(c, target, operation, op)) return false;
  if (target.is_lvalue) return true;
  fail(c, operation, Tag::D_OP_LVAL, fmt::format("operator {} requires modifiable lvalue as an operand", op));
  return false;
}

// The types of the keys of an array that is assigned for the first time. False after a diagnostic.
bool first_keys(ExprContext& c, Index& element, const std::string& name, std::vector<const Type*>& types) {
  for (ExprPtr& key : element.arguments) {
    if (!check_value(c, key)) return false;
    if (!is_key(key->type)) {
      c.session.error(
          Tag::D_KEY_TYPE, key->where,
          fmt::format("{} expression may not be used as {}[ ] index: key #{}", key->type->name, name, types.size() + 1));
      return false;
    }
    types.push_back(key->type);
  }
  if (types.size() <= dif::kTupleDepth) return true;
  c.session.error(Tag::D_PROTO_LEN, element.where,
                  fmt::format("{}[ ] has too many keys: at most {} are possible", name, dif::kTupleDepth));
  return false;
}

// A variable, or an element's array, by its first use. False after a diagnostic.
bool declare_first(ExprContext& c, Index* element, dif::Scope scope, const std::string& name, const Type* type, Location where) {
  const std::string spelled = fmt::format("{}{}", prefix(scope), name);
  if (!has_room(scope, name, where, c.session)) return false;
  if (element && scope == dif::Scope::clause) {
    c.session.error(Tag::D_ARR_LOCAL, where, fmt::format("local variables may not be used as associative arrays: {}", spelled),
                    {"use a global or thread-local array"});
    return false;
  }
  std::vector<const Type*> keys;
  if (element && !first_keys(c, *element, spelled, keys)) return false;
  Symbol& symbol = c.symbols.add_variable(scope, name, type);
  symbol.is_array = element != nullptr;
  symbol.keys = std::move(keys);
  return true;
}

// A variable whose first assignment is wrong stays unknown; who reads it later is not told again.
void forget(ExprContext& c, const Expr& target) {
  const auto* element = as<Index>(&target);
  dif::Scope scope;
  std::string name;
  if (names_variable(element ? *element->base : target, c.session, scope, name)) (void)c.session.is_new_unknown(scope, name);
}

void array_target(ExprContext& c, Assign& e, const Type* type) {
  std::vector<std::string> hints;
  if (resolve(*target_of(type)).is_char) hints.push_back("stringof() makes a string of characters");
  hints.push_back("&array[0] is the address of an array's elements");
  fail(c, e, Tag::D_OP_ARRFUN, fmt::format("operator = may not be applied to operand of type \"{}\"", type->name),
       std::move(hints));
}

// The variable that an assignment declares by being the first: a scalar, or with = an associative array.
bool declare_target(ExprContext& c, Assign& e) {
  auto* element = as<Index>(e.target.get());
  dif::Scope scope;
  std::string name;
  if (!names_variable(element ? *element->base : *e.target, c.session, scope, name) || c.symbols.find(scope, name)) return true;
  if (element && e.op != Op::assign) return true;  // diagnosed as undeclared where it is read
  if (is_void(e.value->type)) return incompatible(c, e, *e.value, token(Op::assign), *e.value), false;
  if (is_array(e.value->type)) return array_target(c, e, e.value->type), false;
  return declare_first(c, element, scope, name, e.value->type, e.where);
}

// dtrace checks the keys before the value: x[i++] = i has an i.
bool check_keys_first(ExprContext& c, const Assign& e) {
  auto* element = as<Index>(e.target.get());
  dif::Scope scope;
  std::string name;
  if (!element || !names_variable(*element->base, c.session, scope, name)) return true;
  return std::all_of(element->arguments.begin(), element->arguments.end(), [&](ExprPtr& key) { return check_value(c, key); });
}

// It declares the variable before that, too: in i = i + 1 the value of i is missing, not its name. False after a diagnostic.
bool check_assigned_value(ExprContext& c, Assign& e) {
  if (!check_keys_first(c, e)) return false;
  const auto* name = as<Identifier>(e.target.get());
  const std::string_view around = std::exchange(c.assigned, name ? std::string_view(name->name) : c.assigned);
  check(c, e.value);
  c.assigned = around;
  return !is_error(e.value->type);
}

// x[key] = 0 and self->x = 0 give back the memory of a structure.
bool frees(const Assign& e) {
  const Symbol* symbol = variable_of(*e.target);
  const bool is_dynamic = symbol && (symbol->is_array || symbol->scope == dif::Scope::thread);
  return is_dynamic && is_record(e.target->type) && is_integer(e.value->type) && e.value->is_zero_constant;
}

// The built-in variable with a time that the expression names, or null.
const dif::BuiltInInfo* clock_of(const Expr& value) {
  const auto* name = as<Identifier>(&value);
  if (!name || !name->symbol || name->symbol->kind != SymbolKind::built_in) return nullptr;
  const dif::BuiltInInfo* row = dif::find_built_in(name->symbol->id);
  return row && row->family == dif::VariableFamily::clock ? row : nullptr;
}

// How D declares the array with values of 64 bits: "self uint64_t a[int, string];".
std::string wide_array(const Symbol& array) {
  std::string keys;
  for (const Type* key : array.keys) keys += (keys.empty() ? "" : ", ") + key->name;
  return fmt::format("{}uint64_t {}[{}];", array.scope == dif::Scope::thread ? "self " : "", array.name, keys);
}

// The upper half of a time is lost in an int, and no fault says so. Published scripts have such variables.
void warn_of_cut(ExprContext& c, const Assign& e) {
  const Symbol* target = variable_of(*e.target);
  const dif::BuiltInInfo* clock = clock_of(*e.value);
  if (e.op != Op::assign || !target || !clock || !is_integer(e.type) || e.type->size >= sizeof(uint64_t)) return;
  if (!c.session.is_new_cut(target->scope, target->name)) return;
  const std::string spelled = fmt::format("{}{}", prefix(target->scope), target->name);
  c.session.diagnostics.warning(
      Tag::D_OP_CUT, e.where, fmt::format("{} is cut to the type of {}: {}", clock->name, spelled, e.type->name),
      {target->is_array ? fmt::format("declare {} before its first use: {}", spelled, wide_array(*target))
                        : fmt::format("declare {} as uint64_t before its first use", spelled)});
}

// False after a diagnostic: the operator does not take the types of target and value.
bool check_operands(ExprContext& c, Assign& e, std::string_view op) {
  const Type *to = e.target->type, *from = e.value->type;
  const bool integers = is_integer(to) && is_integer(from);
  switch (e.op) {
    case Op::assign:
      if (is_array(to)) return array_target(c, e, to), false;
      if (!is_assignable(to, *e.value) && !frees(e)) return incompatible(c, e, *e.target, op, *e.value), false;
      return true;
    case Op::add:
    case Op::subtract:
      if (integers) return true;
      if (is_string(to) || is_string(from)) return incompatible(c, e, *e.target, op, *e.value), false;
      if (!require(c, cls(to) == TypeClass::pointer && !is_void_or_function_pointer(to), e, Tag::D_OP_VFPTR,
                   "operator {} requires left-hand scalar operand of known size", op))
        return false;
      if (!c.session.is_defined(target_of(to))) return incomplete(c, e, op, target_of(to)), false;
      if (!is_integer(from)) return incompatible(c, e, *e.target, op, *e.value), false;
      return true;
    case Op::multiply:
    case Op::divide:
      return require(c, integers, e, Tag::D_OP_ARITH, "operator {} requires operands of arithmetic type", op);
    default:
      return require(c, integers, e, Tag::D_OP_INT, "operator {} requires operands of integral type", op);
  }
}

}  // namespace

void declare_operand(ExprContext& c, Expr& operand) {
  auto* element = as<Index>(&operand);
  dif::Scope scope;
  std::string name;
  if (!names_variable(element ? *element->base : operand, c.session, scope, name) || c.symbols.find(scope, name)) return;
  if (!declare_first(c, element, scope, name, c.types.basic("int64_t"), operand.where)) forget(c, operand);
}

void check_counted(ExprContext& c, Expr& e, ExprPtr& operand, Op op) {
  declare_operand(c, *operand);
  check(c, operand);
  const Type* t = operand->type;
  if (is_error(t)) return fail(c, e);
  if (cls(t) == TypeClass::pointer && !c.session.is_defined(target_of(t))) return incomplete(c, e, token(op), target_of(t));
  if (require(c, is_integer(t) || cls(t) == TypeClass::pointer, e, Tag::D_OP_SCALAR,
              "operator {} requires operand of scalar type", token(op)) &&
      require(c, !is_void_or_function_pointer(t), e, Tag::D_OP_VFPTR, "operator {} requires an operand of known size",
              token(op)) &&
      check_lvalue(c, *operand, e, token(op)))
    e.type = t;
}

ExprPtr check(ExprContext& c, Postfix& e) {
  check_counted(c, e, e.operand, e.op);
  return nullptr;
}

ExprPtr check(ExprContext& c, Assign& e) {
  if (auto* aggregation = as<Aggregation>(e.target.get())) {
    fail(c, e, Tag::D_AGG_NULL, fmt::format("aggregation @{} may only be assigned in a statement of its own", aggregation->name));
    return nullptr;
  }
  if (!check_assigned_value(c, e) || !declare_target(c, e)) {
    forget(c, *e.target);
    fail(c, e);
    return nullptr;
  }
  check(c, e.target);
  const std::string op = e.op == Op::assign ? "=" : std::string(token(e.op)) + "=";
  if (is_error(e.target->type)) {
    fail(c, e);
    return nullptr;
  }
  e.type = e.target->type;
  if (check_operands(c, e, op) && check_lvalue(c, *e.target, e, op) && (e.op == Op::divide || e.op == Op::remainder) &&
      as<Integer>(e.value.get()) && e.value->is_zero_constant)
    fail(c, e, Tag::D_DIV_ZERO, "expression contains division by zero");
  else if (is_pointer(e.target->type) && !is_error(e.type) && !note_origin(e))
    fail(c, e, Tag::D_ALLOCA_INCOMPAT,
         "ternary conditional with alloca and non-alloca branches cannot be assigned to a variable");
  else if (is_string(e.target->type) && !is_error(e.type))
    e.value = convert(std::move(e.value), e.target->type);
  else if (!is_error(e.type))
    warn_of_cut(c, e);
  return nullptr;
}

}  // namespace dvm::compiler
