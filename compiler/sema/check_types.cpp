// Names, constants, conversions and the simple expressions. Tests: tests/golden/sema.
#include "compiler/sema/check_types.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/similar.h"
#include "compiler/ast/visitor.h"
#include "compiler/sema/declare.h"
#include "compiler/sema/fold_constants.h"
#include "compiler/sema/foreign.h"
#include "compiler/sema/macros.h"
#include "compiler/sema/tables.h"
#include "dvm/dif/action.h"
#include "dvm/dif/subroutine.h"
#include "dvm/dif/variable.h"

namespace dvm::compiler {

void ExprChecker::check(ExprPtr& e) {
  check_place(e);
  if (!check_typed(*e)) fail(*e);
}

void ExprChecker::check_place(ExprPtr& e) {
  if (is_too_large(e)) return;
  s_.expansion.depth++;
  if (ExprPtr other = visit(*e, [this](auto& node) { return check(node); })) e = std::move(other);
  s_.expansion.depth--;
}

// What has become too large is cut off here.
bool ExprChecker::is_too_large(ExprPtr& e) {
  Expansion& x = s_.expansion;
  if (x.level > 0) x.nodes++;
  if (x.nodes < Expansion::kMaxNodes && x.depth < Expansion::kMaxDepth) return false;
  if (!std::exchange(x.is_told, true))
    s_.error(Tag::D_NESTING, x.level > 0 ? x.where : e->where,
             "expression is too large or too deep once its inlines and translators are expanded",
             {fmt::format("at most {} operators and operands, {} deep", Expansion::kMaxNodes, Expansion::kMaxDepth)});
  e = make_integer(e->where, 0, s_.types.error());
  return true;
}

bool ExprChecker::check_value(ExprPtr& e) {
  check(e);
  return !is_error(e->type);
}

void ExprChecker::fail(Expr& e, Tag tag, std::string message, std::vector<std::string> hints) {
  s_.error(tag, e.where, std::move(message), std::move(hints));
  fail(e);
}

bool ExprChecker::has_error(const std::vector<ExprPtr>& list) const {
  return std::any_of(list.begin(), list.end(), [](const ExprPtr& e) { return is_error(e->type); });
}

bool ExprChecker::constant(const Expr& e, int64_t& value) {
  const auto* integer = as<Integer>(&e);
  if (!integer || !is_integer(integer->type)) return false;
  value = static_cast<int64_t>(integer->value);
  return true;
}

ExprPtr ExprChecker::check(Integer& e) {
  if (!e.type) e.type = s_.types.of_constant(e.value, e.decimal, e.is_unsigned, e.is_long);
  e.is_zero_constant = e.value == 0;
  return nullptr;
}

ExprPtr ExprChecker::check(String& e) {
  e.type = s_.types.basic("string");
  return nullptr;
}

ExprPtr ExprChecker::check(Macro& e) {
  ExprPtr expansion = expand_macro(e, s_);
  if (!expansion) {
    fail(e);
    return nullptr;
  }
  check(expansion);
  return expansion;
}

namespace {

const dif::BuiltInInfo* find_built_in(std::string_view name) {
  for (const dif::BuiltInInfo& row : dif::kBuiltIns)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace

bool is_function(std::string_view name) {
  const auto same = [&](const auto& row) { return row.name == name; };
  return std::any_of(dif::kSubroutines.begin(), dif::kSubroutines.end(), same) ||
         std::any_of(dif::kActions.begin(), dif::kActions.end(), same) ||
         std::any_of(dif::kAggregations.begin(), dif::kAggregations.end(), same);
}

void ExprChecker::undefined(Identifier& e) {
  if (!s_.is_new_unknown(dif::Scope::global, e.name)) return fail(e);
  if (is_function(e.name))
    return fail(e, Tag::D_IDENT_BADREF, fmt::format("function {} may not be referenced as scalar", e.name),
                {fmt::format("did you mean '{}()'?", e.name)});
  if (const std::string_view reason = foreign_reason(e.name); !reason.empty())
    return fail(e, Tag::D_UNKNOWN, fmt::format("variable {} is not available in dvm: {}", e.name, reason));
  if (const std::string_view reason = foreign_type_reason(e.name); !reason.empty())  // sizeof (vnode_t)
    return fail(e, Tag::D_UNKNOWN, fmt::format("failed to resolve type {}: {}", e.name, reason));
  std::vector<std::string_view> known = s_.symbols.names(dif::Scope::global);
  s_.types.add_names(known);
  std::vector<std::string> hints = near_hints(e.name, known);
  for (const dif::Scope scope : {dif::Scope::thread, dif::Scope::clause})
    if (s_.symbols.find(scope, e.name)) hints.push_back(fmt::format("did you mean '{}{}'?", prefix(scope), e.name));
  if (target_constant(e.where, "", e.name)) hints.push_back(fmt::format("the program has an enumerator `{}", e.name));
  fail(e, Tag::D_IDENT_UNDEF, fmt::format("failed to resolve {}: Unknown variable name", e.name), std::move(hints));
}

ExprPtr ExprChecker::check(Identifier& e) {
  Symbol* symbol = s_.symbols.find(dif::Scope::global, e.name);
  if (!symbol) {
    undefined(e);
    return nullptr;
  }
  e.symbol = symbol;
  return use(e, *symbol, e.name);
}

// What is read before any assignment, and is no plain global name.
void ExprChecker::unassigned(Expr& e, dif::Scope scope, const std::string& name) {
  if (!s_.is_new_unknown(scope, name)) return fail(e);
  fail(e, Tag::D_VAR_UNDEF, fmt::format("{}{} has not yet been declared or assigned", prefix(scope), name),
       near_hints(name, s_.symbols.names(scope), prefix(scope)));
}

ExprPtr ExprChecker::check(Scoped& e) {
  Symbol* symbol = s_.symbols.find(e.scope, e.name);
  if (!symbol) {
    unassigned(e, e.scope, e.name);
    return nullptr;
  }
  e.symbol = symbol;
  return use(e, *symbol, e.name);
}

bool ExprChecker::is_stable_enough(Expr& e, const std::string& what, const dif::Attributes& attributes) {
  s_.statements = least(s_.statements, attributes);
  if (attributes.reaches(s_.options.minimum)) return true;
  fail(e, Tag::D_ATTR_MIN, fmt::format("attributes for {} ({}) are less than predefined minimum", what, dif::print(attributes)),
       {fmt::format("-x amin asks for {}", dif::print(s_.options.minimum))});
  return false;
}

// A symbol named without an index.
ExprPtr ExprChecker::use(Expr& e, Symbol& symbol, std::string_view name) {
  if (!is_stable_enough(e, symbol.name, symbol.attributes)) return nullptr;
  if (symbol.kind == SymbolKind::constant) return make_integer(e.where, symbol.value, symbol.type);
  if (symbol.kind == SymbolKind::inline_ && !symbol.has_parameters) return expand_inline(e.where, symbol, nullptr);
  if (symbol.kind == SymbolKind::built_in) {
    const dif::BuiltInInfo& row = *find_built_in(name);
    if (row.family == dif::VariableFamily::none) {
      fail(e, Tag::D_UNKNOWN, fmt::format("variable {} is not available in dvm: {}", name, row.text));
      return nullptr;
    }
  }
  if (symbol.is_array || symbol.kind == SymbolKind::inline_) {
    fail(e, Tag::D_IDENT_BADREF, fmt::format("array {}{} may not be referenced as scalar", prefix(symbol.scope), name));
    return nullptr;
  }
  e.type = symbol.type;
  e.is_lvalue = true;
  return nullptr;
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

void ExprChecker::check_expanded(ExprPtr& body, Location where) {
  if (s_.expansion.level++ == 0) s_.expansion.where = where;
  check(body);
  s_.expansion.level--;
}

ExprPtr ExprChecker::expand_inline(Location where, Symbol& symbol, std::vector<ExprPtr>* arguments) {
  if (is_error(symbol.type)) return make_integer(where, 0, symbol.type);  // told where it was declared
  if (symbol.is_expanding) {
    s_.error(Tag::D_IDENT_BADREF, where, fmt::format("inline {} may not refer to itself", symbol.name));
    return make_integer(where, 0, s_.types.error());
  }
  ExprPtr body = clone(*symbol.body);
  if (symbol.file != &s_.diagnostics.file()) place_at(*body, where);
  std::vector<Substitution> list;
  for (size_t i = 0; arguments && i < arguments->size(); i++)
    list.push_back({symbol.parameters[i].name, (*arguments)[i].get(), symbol.parameters[i].type});
  substitute(body, list);
  symbol.is_expanding = true;
  check_expanded(body, where);
  symbol.is_expanding = false;
  if (!is_error(body->type) && !is_compatible(symbol.type, *body)) {
    s_.error(Tag::D_OP_INCOMPAT, where,
             fmt::format("inline {} definition uses incompatible types: \"{}\" = \"{}\"", symbol.name, symbol.type->name,
                         body->type->name));
    return make_integer(where, 0, s_.types.error());
  }
  return is_error(body->type) ? std::move(body) : convert(std::move(body), symbol.type);
}

ExprPtr convert(ExprPtr e, const Type* type) {
  if (e->type == type || is_error(e->type) || is_error(type)) return e;
  if (e->kind == ExprKind::Translate) {  // to the same structure, by another name
    e->type = type;
    return e;
  }
  const bool to_string = is_string(type) && is_char_pointer(e->type), from_string = is_pointer(type) && is_string(e->type);
  if (!to_string && !from_string && (!is_scalar(e->type) || !is_scalar(type))) return e;
  auto cast = std::make_unique<Cast>(e->where);
  cast->type = type;
  cast->is_user = is_pointer(type) && e->is_user;
  cast->operand = std::move(e);
  if (ExprPtr folded = fold(*cast)) return folded;
  return cast;
}

ExprPtr ExprChecker::check(Aggregation& e) {
  fail(e, Tag::D_AGG_NULL, fmt::format("expression has null effect: @{}", e.name),
       {"an aggregation is assigned: @name[keys] = count()"});
  return nullptr;
}

ExprPtr ExprChecker::check(Comma& e) {
  if (is_dynamic(e, *e.first, *e.second, ",")) return nullptr;
  check(e.first);
  check(e.second);
  const auto is_action = [](const Expr& operand) {
    const auto* call = as<Call>(&operand);
    return call && find_by_name(dif::kActions, call->name);
  };
  if (is_action(*e.first) || is_action(*e.second)) {
    fail(e, Tag::D_OP_ACT, "operator , operands cannot be actions", {"an action is a statement of its own"});
    return nullptr;
  }
  e.type = is_error(e.first->type) ? s_.types.error() : e.second->type;
  e.is_user = e.second->is_user;
  return nullptr;
}

ExprPtr ExprChecker::check(Cast& e) {
  if (e.to) e.type = type_of(*e.to, s_);
  check(e.operand);
  if (is_error(e.type) || is_error(e.operand->type)) {
    fail(e);
    return nullptr;
  }
  const bool scalars = is_scalar(e.type) && is_scalar(e.operand->type) && cls(e.type) != TypeClass::array;
  const bool strings = is_string(e.type) && (is_string_like(e.operand->type) || is_pointer(e.operand->type));
  const bool from_string = is_pointer(e.type) && is_string(e.operand->type);
  const bool to_void = is_void(e.type) && e.to;
  if (!scalars && !strings && !from_string && !to_void && &resolve(*e.type) != &resolve(*e.operand->type)) {
    fail(e, Tag::D_CAST_INVAL, fmt::format("invalid cast expression: \"{}\" to \"{}\"", e.operand->type->name, e.type->name));
    return nullptr;
  }
  e.is_user = is_pointer(e.type) && is_of_target(*e.operand);
  return fold(e);
}

bool ExprChecker::is_dynamic(Expr& e, const Expr& first, const Expr& second, std::string_view op) {
  if (first.kind != ExprKind::Aggregation && second.kind != ExprKind::Aggregation) return false;
  fail(e, Tag::D_OP_DYN, fmt::format("operator {} operands cannot be of dynamic type", op));
  return true;
}

// What either of two values is; null when there is no such type.
const Type* ExprChecker::common_type(const Expr& a, const Expr& b) const {
  if (is_integer(a.type) && is_integer(b.type) && !is_same(a.type, b.type)) return s_.types.common(a.type, b.type);
  if (is_string(a.type) ? is_string_like(b.type) : is_string(b.type) && is_string_like(a.type)) return s_.types.basic("string");
  if (is_same(a.type, b.type) && !is_void(a.type) && !is_array(a.type)) return a.type;
  if (!pointers_match(a, b)) return nullptr;
  const bool take_left = is_integer(b.type) || (!is_integer(a.type) && is_pointer(b.type) && is_void(target_of(b.type)));
  const Type* t = take_left ? a.type : b.type;
  return is_array(t) ? s_.types.pointer_to(target_of(t)) : t;
}

ExprPtr ExprChecker::chosen_branch(Conditional& e) {
  int64_t value = 0;
  if (!constant(*e.condition, value)) return nullptr;
  use_macros(value != 0 ? *e.otherwise : *e.then, s_);
  return std::move(value != 0 ? e.then : e.otherwise);
}

ExprPtr ExprChecker::check(Conditional& e) {
  if (is_dynamic(e, *e.then, *e.otherwise, "?:")) return nullptr;
  if (!e.condition->type) check(e.condition);  // that of a statement has been checked
  if (ExprPtr chosen = chosen_branch(e)) {
    check(chosen);
    return chosen;
  }
  check(e.then);
  check(e.otherwise);
  if (is_error(e.condition->type) || is_error(e.then->type) || is_error(e.otherwise->type)) {
    fail(e);
    return nullptr;
  }
  if (!is_scalar(e.condition->type)) {
    fail(e, Tag::D_OP_SCALAR, "operator ?: expression must be of scalar type");
    return nullptr;
  }
  if (nested_action_ && is_void(e.then->type) && is_void(e.otherwise->type))
    fail(e, Tag::D_OP_ACT, "action cannot be used in a conditional context", {"write if (condition) { ... } else { ... }"});
  else if (const Type* type = common_type(*e.then, *e.otherwise))
    e.type = type;
  else
    fail(e, Tag::D_OP_INCOMPAT,
         fmt::format("operator ?: operands must have compatible types: \"{}\" : \"{}\"", e.then->type->name,
                     e.otherwise->type->name));
  if (is_error(e.type)) return nullptr;
  e.is_user = e.then->is_user && e.otherwise->is_user;
  if (is_string(e.type))
    for (ExprPtr* side : {&e.then, &e.otherwise}) *side = convert(std::move(*side), e.type);
  return nullptr;
}

ExprPtr ExprChecker::check(SizeofType& e) {
  const Type* t = type_of(*e.of, s_);
  if (is_error(t))
    fail(e);
  else if (!s_.is_defined(t) || !is_object(t))
    fail(e, Tag::D_SIZEOF_TYPE, fmt::format("cannot apply sizeof to an operand of unknown size: {}", t->name), s_.type_hints(*t));
  else
    return make_integer(e.where, resolve(*t).size, s_.types.basic("size_t"));
  return nullptr;
}

ExprPtr ExprChecker::check(SizeofValue& e) {
  check(e.operand);
  const auto* member = as<Member>(e.operand.get());
  if (is_error(e.operand->type))
    fail(e);
  else if (const auto* text = as<String>(e.operand.get()))
    return make_integer(e.where, text->value.size() + 1, s_.types.basic("size_t"));
  else if (member && member->field && member->field->bits)
    fail(e, Tag::D_SIZEOF_BITFIELD, "cannot apply sizeof to a bit-field");
  else if (!s_.is_defined(e.operand->type) || !is_object(e.operand->type))
    fail(e, Tag::D_SIZEOF_TYPE, fmt::format("cannot apply sizeof to an operand of unknown size: {}", e.operand->type->name));
  else
    return make_integer(e.where, resolve(*e.operand->type).size, s_.types.basic("size_t"));
  return nullptr;
}

std::vector<std::string> member_hints(const Type& record, std::string_view name) {
  std::vector<std::string_view> names;
  for (const Field& f : resolve(record).fields) names.push_back(f.name);
  return near_hints(name, names);
}

ExprPtr ExprChecker::check(OffsetOf& e) {
  const Type* t = type_of(*e.of, s_);
  if (is_error(t)) {
    fail(e);
    return nullptr;
  }
  const Field* field = is_record(t) ? resolve(*t).find(e.member) : nullptr;
  if (!is_record(t) || !s_.is_defined(t))
    fail(e, Tag::D_OFFSETOF_TYPE, fmt::format("offsetof may only be applied to a struct or union type, not {}", t->name));
  else if (!field)
    fail(e, Tag::D_TYPE_MEMBER, fmt::format("{} is not a member of {}", e.member, t->name), member_hints(*t, e.member));
  else if (field->bits)
    fail(e, Tag::D_OFFSETOF_BITFIELD, "cannot take offset of a bit-field");
  else
    return make_integer(e.where, field->offset, s_.types.basic("size_t"));
  return nullptr;
}

ExprPtr ExprChecker::check(StringOf& e) {
  check(e.operand);
  e.type = s_.types.basic("string");
  if (is_error(e.operand->type))
    fail(e);
  else if (!is_string_like(e.operand->type) && !is_scalar(e.operand->type))
    fail(e, Tag::D_STRINGOF_TYPE, fmt::format("cannot apply stringof to a value of type {}", e.operand->type->name));
  return nullptr;
}

void ExprChecker::incomplete(Expr& e, std::string_view op, const Type* type) {
  fail(e, Tag::D_OP_INCOMPLETE,
       fmt::format("operator {} cannot be applied to a forward declaration: no {} definition is available", op, type->name),
       s_.missing_hints(type));
}

ExprPtr ExprChecker::check(Member& e) {
  check(e.base);
  if (is_error(e.base->type)) {
    fail(e);
    return nullptr;
  }
  if (auto* translated = as<Translate>(e.base.get()); translated && e.arrow == is_pointer(translated->type))
    return translated->translator ? translated_member(e, *translated) : assembled_member(e, *translated);
  const std::string_view op = e.arrow ? "->" : ".";
  const Type* record = e.base->type;
  if (e.arrow && !is_pointer(record)) {
    fail(e, Tag::D_OP_PTR, "operator -> must be applied to a pointer",
         is_record(record) ? std::vector<std::string>{"did you mean '.'?"} : std::vector<std::string>{});
    return nullptr;
  }
  if (e.arrow) record = target_of(record);
  if (!is_record(record)) {
    const char* message =
        e.arrow ? "operator -> cannot be applied to pointer to type \"{}\"; must be applied to a struct or union pointer"
                : "operator . cannot be applied to type \"{}\"; must be applied to a struct or union";
    fail(e, Tag::D_OP_SOU, fmt::format(fmt::runtime(message), record->name));
    return nullptr;
  }
  if (!s_.is_defined(record)) {
    incomplete(e, op, record);
    return nullptr;
  }
  e.field = resolve(*record).find(e.name);
  if (!e.field) {
    fail(e, Tag::D_TYPE_MEMBER, fmt::format("{} is not a member of {}", e.name, record->name), member_hints(*record, e.name));
    return nullptr;
  }
  e.type = e.field->type;
  e.is_lvalue = e.arrow || e.base->is_lvalue;
  e.is_user = e.base->is_user;
  return nullptr;
}

}  // namespace dvm::compiler
