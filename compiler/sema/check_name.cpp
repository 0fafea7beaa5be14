// Names and what they stand for. Tests: tests/golden/sema.
#include "compiler/sema/check_name.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/similar.h"
#include "compiler/ast/visitor.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/check_target.h"
#include "compiler/sema/compatible.h"
#include "compiler/sema/convert.h"
#include "compiler/sema/fold_constants.h"
#include "compiler/sema/foreign.h"
#include "compiler/sema/macros.h"
#include "compiler/sema/tables.h"
#include "dvm/dif/action.h"
#include "dvm/dif/subroutine.h"
#include "dvm/dif/variable.h"

namespace dvm::compiler {

namespace {

const dif::BuiltInInfo* find_built_in(std::string_view name) {
  for (const dif::BuiltInInfo& row : dif::kBuiltIns)
    if (row.name == name) return &row;
  return nullptr;
}

void undefined(ExprContext& c, Identifier& e) {
  if (e.name == c.assigned) return unassigned(c, e, dif::Scope::global, e.name);
  if (!c.session.is_new_unknown(dif::Scope::global, e.name)) return fail(c, e);
  if (is_function(e.name, c.session))
    return fail(c, e, Tag::D_IDENT_BADREF, fmt::format("function {} may not be referenced as scalar", e.name),
                {fmt::format("did you mean '{}()'?", e.name)});
  if (const std::string_view reason = foreign_reason(e.name); !reason.empty())
    return fail(c, e, Tag::D_UNKNOWN, fmt::format("variable {} is not available in dvm: {}", e.name, reason));
  if (const std::string_view reason = foreign_type_reason(e.name); !reason.empty())  // sizeof (vnode_t)
    return fail(c, e, Tag::D_UNKNOWN, fmt::format("failed to resolve type {}: {}", e.name, reason));
  std::vector<std::string_view> known = c.symbols.names(dif::Scope::global);
  c.types.add_names(known);
  std::vector<std::string> hints = word_hints(e.name);
  if (hints.empty()) hints = near_hints(e.name, known);
  for (const dif::Scope scope : {dif::Scope::thread, dif::Scope::clause})
    if (c.symbols.find(scope, e.name)) hints.push_back(fmt::format("did you mean '{}{}'?", prefix(scope), e.name));
  if (target_constant(c, e.where, "", e.name)) hints.push_back(fmt::format("the program has an enumerator `{}", e.name));
  fail(c, e, Tag::D_IDENT_UNDEF, fmt::format("failed to resolve {}: Unknown variable name", e.name), std::move(hints));
}

// A symbol named without an index.
ExprPtr use(ExprContext& c, Expr& e, Symbol& symbol, std::string_view name) {
  if (!is_stable_enough(c, e, symbol.name, symbol.attributes)) return nullptr;
  if (symbol.kind == SymbolKind::constant) return make_integer(e.where, symbol.value, symbol.type);
  if (symbol.kind == SymbolKind::inline_ && !symbol.has_parameters) return expand_inline(c, e.where, symbol, nullptr);
  if (symbol.kind == SymbolKind::built_in) {
    const dif::BuiltInInfo& row = *find_built_in(name);
    if (row.family == dif::VariableFamily::none) {
      fail(c, e, Tag::D_UNKNOWN, fmt::format("variable {} is not available in dvm: {}", name, row.text));
      return nullptr;
    }
  }
  if (symbol.is_array || symbol.kind == SymbolKind::inline_) {
    fail(c, e, Tag::D_IDENT_BADREF, fmt::format("array {}{} may not be referenced as scalar", prefix(symbol.scope), name));
    return nullptr;
  }
  e.type = symbol.type;
  e.is_lvalue = true;
  return nullptr;
}

}  // namespace

bool is_function(std::string_view name, const Session& session) {
  if (is_hidden(name, session)) return false;
  const auto same = [&](const auto& row) { return row.name == name; };
  return std::any_of(dif::kSubroutines.begin(), dif::kSubroutines.end(), same) ||
         std::any_of(dif::kActions.begin(), dif::kActions.end(), same) ||
         std::any_of(dif::kAggregations.begin(), dif::kAggregations.end(), same);
}

// The scope and name of what may be a variable or associative array, if the base is a bare name and not a function's.
bool names_variable(const Expr& base, const Session& session, dif::Scope& scope, std::string& name) {
  if (const auto* e = as<Identifier>(&base)) {
    scope = dif::Scope::global, name = e->name;
    return !is_function(name, session);
  }
  if (const auto* e = as<Scoped>(&base)) {
    scope = e->scope, name = e->name;
    return true;
  }
  return false;
}

// What is read before any assignment, and is no plain global name.
void unassigned(ExprContext& c, Expr& e, dif::Scope scope, const std::string& name) {
  if (!c.session.is_new_unknown(scope, name)) return fail(c, e);
  fail(c, e, Tag::D_VAR_UNDEF, fmt::format("{}{} has not yet been declared or assigned", prefix(scope), name),
       near_hints(name, c.symbols.names(scope), prefix(scope)));
}

void check_expanded(ExprContext& c, ExprPtr& body, Location where) {
  if (c.session.expansion.level++ == 0) c.session.expansion.where = where;
  check(c, body);
  c.session.expansion.level--;
}

void substitute(ExprPtr& e, std::span<const Substitution> list) {
  const auto* name = as<Identifier>(e.get());
  if (!name) return for_each_child(*e, [&](ExprPtr& child) { substitute(child, list); });
  const auto it = std::find_if(list.begin(), list.end(), [&](const Substitution& s) { return s.name == name->name; });
  if (it == list.end()) return;
  ExprPtr copy = clone(*it->value);
  if (is_scalar(it->type)) {
    auto cast = std::make_unique<Cast>(name->where);
    cast->operand = std::move(copy), cast->type = it->type;
    copy = std::move(cast);
  }
  e = std::move(copy);
}

ExprPtr expand_inline(ExprContext& c, Location where, Symbol& symbol, std::vector<ExprPtr>* arguments) {
  if (is_error(symbol.type)) return make_integer(where, 0, symbol.type);  // told where it was declared
  if (symbol.is_expanding) {
    c.session.error(Tag::D_IDENT_BADREF, where, fmt::format("inline {} may not refer to itself", symbol.name));
    return make_integer(where, 0, c.types.error());
  }
  ExprPtr body = clone(*symbol.body);
  if (symbol.file != &c.session.diagnostics.file()) place_at(*body, where);
  std::vector<Substitution> list;
  for (size_t i = 0; arguments && i < arguments->size(); i++)
    list.push_back({symbol.parameters[i].name, (*arguments)[i].get(), symbol.parameters[i].type});
  substitute(body, list);
  symbol.is_expanding = true;
  check_expanded(c, body, where);
  symbol.is_expanding = false;
  if (!is_error(body->type) && !is_compatible(symbol.type, *body)) {
    c.session.error(Tag::D_OP_INCOMPAT, where,
                    fmt::format("inline {} definition uses incompatible types: \"{}\" = \"{}\"", symbol.name, symbol.type->name,
                                body->type->name));
    return make_integer(where, 0, c.types.error());
  }
  return is_error(body->type) ? std::move(body) : convert(std::move(body), symbol.type);
}

ExprPtr check(ExprContext& c, Macro& e) {
  ExprPtr expansion = expand_macro(e, c.session);
  if (!expansion) {
    fail(c, e);
    return nullptr;
  }
  check(c, expansion);
  return expansion;
}

ExprPtr check(ExprContext& c, Identifier& e) {
  Symbol* symbol = c.symbols.find(dif::Scope::global, e.name);
  if (!symbol) {
    undefined(c, e);
    return nullptr;
  }
  e.symbol = symbol;
  return use(c, e, *symbol, e.name);
}

ExprPtr check(ExprContext& c, Scoped& e) {
  Symbol* symbol = c.symbols.find(e.scope, e.name);
  if (!symbol) {
    unassigned(c, e, e.scope, e.name);
    return nullptr;
  }
  e.symbol = symbol;
  return use(c, e, *symbol, e.name);
}

}  // namespace dvm::compiler
