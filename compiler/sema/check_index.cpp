// Elements of arrays. Tests: tests/golden/sema.
#include "compiler/sema/check_index.h"

#include <fmt/format.h>

#include <utility>

#include "compiler/sema/check_args.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/check_name.h"
#include "compiler/sema/check_target.h"
#include "compiler/sema/compatible.h"
#include "compiler/sema/convert.h"
#include "dvm/dif/instruction.h"
#include "dvm/dif/register.h"
#include "dvm/dif/variable.h"

namespace dvm::compiler {

namespace {

void bind(Expr& base, Symbol& symbol) {
  if (auto* e = as<Identifier>(&base)) e->symbol = &symbol;
  if (auto* e = as<Scoped>(&base)) e->symbol = &symbol;
  base.type = symbol.type;
}

// Keys against the prototype of an associative array or inline; converts them to its types.
bool check_keys(ExprContext& c, const Symbol& symbol, std::vector<ExprPtr>& keys, Location where) {
  std::vector<const Type*> types = symbol.keys;
  for (const InlineParameter& p : symbol.parameters) types.push_back(p.type);
  const std::string name = fmt::format("{}{}[ ]", prefix(symbol.scope), symbol.name);
  if (keys.size() != types.size()) {
    c.session.error(Tag::D_PROTO_LEN, where,
                    fmt::format("{} prototype mismatch: {} key{} passed, {} expected", name, keys.size(),
                                keys.size() == 1 ? "" : "s", types.size()));
    return false;
  }
  for (size_t i = 0; i < keys.size(); i++) {
    if (!is_compatible(types[i], *keys[i])) {
      c.session.error(Tag::D_PROTO_ARG, keys[i]->where,
                      fmt::format("{} key #{} is incompatible with prototype:\n\tprototype: {}\n\t      key: {}", name, i + 1,
                                  types[i]->name, keys[i]->type->name));
      return false;
    }
    keys[i] = convert(std::move(keys[i]), types[i]);
  }
  return true;
}

ExprPtr index_associative(ExprContext& c, Index& e, Symbol& symbol) {
  bind(*e.base, symbol);
  if (!check_keys(c, symbol, e.arguments, e.where)) return fail(c, e), nullptr;
  e.type = symbol.type;
  e.is_lvalue = true;
  return nullptr;
}

void refuse_key(ExprContext& c, Expr& key, std::string_view array, std::string_view wanted) {
  fail(c, key, Tag::D_PROTO_ARG,
       fmt::format("{}[ ] argument #1 is incompatible with prototype:\n\tprototype: {}\n\t argument: {}", array, wanted,
                   key.type->name));
}

bool check_register(ExprContext& c, Expr& e) {
  int64_t index = 0;
  if (!constant(e, index))
    refuse_key(c, e, "uregs", "integer constant");
  else if (index >= 0 && static_cast<uint64_t>(index) >= dif::kRegisterNumbers)
    fail(c, e, Tag::D_UNKNOWN, fmt::format("uregs[]: index out of bounds ({})", index));
  return !is_error(e.type);
}

ExprPtr index_built_in(ExprContext& c, Index& e, Symbol& symbol) {
  bind(*e.base, symbol);
  const dif::BuiltInInfo& row = *dif::find_built_in(symbol.id);
  if (row.id == dif::BuiltIn::args) return index_args(c, e);
  if (row.family == dif::VariableFamily::none) {
    fail(c, e, Tag::D_UNKNOWN, fmt::format("variable {} is not available in dvm: {}", row.name, row.text));
  } else if (e.arguments.size() != 1) {
    fail(c, e, Tag::D_PROTO_LEN,
         fmt::format("{}[ ] prototype mismatch: {} args passed, 1 expected", row.name, e.arguments.size()));
  } else if (!is_integer(e.arguments[0]->type)) {
    refuse_key(c, *e.arguments[0], row.name, row.id == dif::BuiltIn::uregs ? "integer constant" : "integer");
    fail(c, e);
  } else {
    int64_t index = 0;
    if (row.id == dif::BuiltIn::uregs && !check_register(c, *e.arguments[0])) return fail(c, e), nullptr;
    const bool is_of_file = row.id == dif::BuiltIn::file_number || row.id == dif::BuiltIn::file_text;  // fds[-1] is not open
    if (constant(*e.arguments[0], index) && index < 0 && !is_of_file)
      c.session.error(Tag::D_REGS_IDX, e.arguments[0]->where,
                      fmt::format("index {} is out of range for array {}", index, row.name));
    e.type = symbol.type;
  }
  return nullptr;
}

// A string variable, an element, or a member of D memory: the characters of others can be read, not assigned.
bool is_own_string(const Expr& e) {
  if (e.kind == ExprKind::Member) return e.is_lvalue && !e.is_user;
  const auto* element = as<Index>(&e);
  const Expr& variable = element ? *element->base : e;
  const auto* name = as<Identifier>(&variable);
  const auto* scoped = as<Scoped>(&variable);
  const Symbol* symbol = name ? name->symbol : scoped ? scoped->symbol : nullptr;
  return symbol && symbol->kind == SymbolKind::variable;
}

ExprPtr index_memory(ExprContext& c, Index& e) {
  if (is_error(e.base->type) || has_error(e.arguments)) {
    fail(c, e);
    return nullptr;
  }
  const bool of_string = is_string(e.base->type);
  const bool is_writable = !of_string || is_own_string(*e.base);
  if (of_string) e.base = convert(std::move(e.base), c.types.pointer_to(c.types.basic("char")));
  if (!is_pointer(e.base->type)) {
    fail(c, e, Tag::D_ARR_BADREF, fmt::format("cannot index: \"{}\" is not an array or pointer", e.base->type->name));
    return nullptr;
  }
  const Type* target = target_of(e.base->type);
  if (e.arguments.size() != 1 || !is_integer(e.arguments[0]->type)) {
    fail(c, e, Tag::D_ARR_BADREF, "an array or pointer takes one index of integer type");
  } else if (is_void(target)) {
    fail(c, e, Tag::D_DEREF_VOID, "cannot dereference pointer to void");
  } else if (is_function_type(target)) {
    fail(c, e, Tag::D_DEREF_FUNC, "cannot dereference pointer to function");
  } else if (!c.session.is_defined(target)) {
    incomplete(c, e, "[", target);
  } else {
    int64_t index = 0;
    const Type& array = resolve(*e.base->type);
    const bool is_bounded = array.cls == TypeClass::array && array.count != 0;  // the last member may have no bound
    if (is_bounded && constant(*e.arguments[0], index) && (index < 0 || static_cast<uint64_t>(index) >= array.count))
      c.session.error(Tag::D_ARR_BOUNDS, e.arguments[0]->where,
                      fmt::format("index outside array bounds: {}, max is {}", index, array.count - 1));
    e.type = target;
    e.is_lvalue = is_writable;
    e.is_user = e.base->is_user;
  }
  return nullptr;
}

}  // namespace

ExprPtr check(ExprContext& c, Index& e) {
  if (const auto* aggregation = as<Aggregation>(e.base.get())) {
    fail(c, e, Tag::D_AGG_MDIM, fmt::format("improper attempt to reference @{} as a multi-dimensional array", aggregation->name),
         {"separate keys by commas: @name[first, second]"});
    return nullptr;
  }
  for (ExprPtr& argument : e.arguments) check(c, argument);
  if (const auto* external = as<External>(e.base.get()))
    if (ExprPtr of_kernel = kernel_variable(c, *external)) e.base = std::move(of_kernel);
  dif::Scope scope;
  std::string name;
  if (names_variable(*e.base, c.session, scope, name)) {
    Symbol* symbol = c.symbols.find(scope, name);
    if (!symbol) {
      unassigned(c, e, scope, name);
      return nullptr;
    }
    if (has_error(e.arguments)) {
      fail(c, e);
      return nullptr;
    }
    if (!is_stable_enough(c, e, symbol->name, symbol->attributes)) return nullptr;
    if (symbol->kind == SymbolKind::inline_ && symbol->has_parameters) {
      if (!check_keys(c, *symbol, e.arguments, e.where)) return fail(c, e), nullptr;
      return expand_inline(c, e.where, *symbol, &e.arguments);
    }
    if (symbol->kind == SymbolKind::built_in && symbol->is_array) return index_built_in(c, e, *symbol);
    if (symbol->kind == SymbolKind::variable && symbol->is_array) return index_associative(c, e, *symbol);
  }
  check(c, e.base);
  const bool is_exchanged = is_integer(e.base->type) && e.arguments.size() == 1 && is_pointer(e.arguments[0]->type);
  if (is_exchanged) std::swap(e.base, e.arguments[0]);  // as in C, 3[p] is p[3]
  return index_memory(c, e);
}

}  // namespace dvm::compiler
