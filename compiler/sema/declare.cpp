// Variables, typedefs, inlines and built-ins. Tests: tests/golden/sema (tst.declarations.d, err.D_DECL_*.d).
#include "compiler/sema/declare.h"

#include <fmt/format.h>

#include "compiler/sema/check_types.h"
#include "compiler/sema/declarator.h"
#include "compiler/sema/tables.h"
#include "dvm/dif/instruction.h"
#include "dvm/dif/variable.h"

namespace dvm::compiler {

namespace {

void add_built_in(const dif::BuiltInInfo& row, Session& s) {
  Symbol symbol;
  symbol.kind = SymbolKind::built_in;
  symbol.name = row.name;
  symbol.type = prototype_type(row.type, s.types);
  symbol.id = static_cast<uint16_t>(row.id);
  symbol.is_array = row.kind == dif::BuiltInKind::array;
  s.symbols.add(std::move(symbol));
}

void add_constant(const std::string& name, const Type* type, uint64_t value, Session& s) {
  Symbol symbol;
  symbol.kind = SymbolKind::constant;
  symbol.name = name, symbol.type = type, symbol.value = value;
  s.symbols.add(std::move(symbol));
}

// A variable that is there already may be declared again as what it is.
void check_redeclaration(const Symbol& known, const Type* type, const std::vector<const Type*>& keys, const Declarator& d,
                         Session& s) {
  const bool same = known.kind == SymbolKind::variable && &resolve(*known.type) == &resolve(*type) && known.keys == keys;
  if (!same)
    s.error(Tag::D_DECL_IDRED, d.where,
            fmt::format("identifier redeclared: {}{}\n\t current: {}\n\tprevious: {}", prefix(known.scope), d.name, type->name,
                        known.type->name));
}

bool is_storable(const Type* type, const Declarator& d, Session& s) {
  if (is_error(type)) return false;
  if (is_void(type)) return s.error(Tag::D_DECL_VOIDOBJ, d.where, fmt::format("cannot have void object: {}", d.name)), false;
  if (cls(type) == TypeClass::function)
    return s.error(Tag::D_DECL_PROTO_TYPE, d.where, fmt::format("functions cannot be declared: {}", d.name)), false;
  if (!resolve(*type).is_complete)
    return s.error(Tag::D_DECL_INCOMPLETE, d.where, fmt::format("incomplete struct/union/enum {}: {}", type->name, d.name)),
           false;
  if (cls(type) == TypeClass::floating)
    return s.error(Tag::D_UNKNOWN, d.where, fmt::format("variables of floating-point type are not supported: {}", d.name)), false;
  if (resolve(*type).size > kMaxObject)
    return s.error(Tag::D_DECL_ARRBIG, d.where,
                   fmt::format("{} is too large: {} bytes, at most {}", d.name, resolve(*type).size, kMaxObject)),
           false;
  return true;
}

std::vector<const Type*> key_types(const Derivation& keys, const Declarator& d, Session& s) {
  std::vector<const Type*> types;
  for (const Parameter& p : keys.parameters) {
    if (!p.type) {
      s.error(Tag::D_DECL_PROTO_VARARGS, keys.where, "associative array may not have \"...\" among its keys");
      continue;
    }
    const Type* t = type_of(*p.type, s);
    if (is_error(t)) continue;
    if (is_void(t))
      s.error(Tag::D_DECL_PROTO_VOID, keys.where, fmt::format("void key of {}[ ] has no value", d.name));
    else if (!is_key(t))
      s.error(Tag::D_DECL_PROTO_TYPE, keys.where, fmt::format("{}[ ] key type may not be {}", d.name, t->name));
    else
      types.push_back(t);
  }
  if (types.size() > dif::kTupleDepth)
    s.error(Tag::D_PROTO_LEN, keys.where,
            fmt::format("{}[ ] has too many keys: at most {} are possible", d.name, dif::kTupleDepth));
  return types;
}

void declare_variable(Declaration& declaration, Declarator& d, const Type* base, Session& s) {
  const dif::Scope scope = declaration.specifiers.scope.value_or(dif::Scope::global);
  std::vector<const Type*> keys;
  const bool is_array = !d.derivations.empty() && d.derivations.front().kind == Derivation::Kind::keys;
  if (is_array) keys = key_types(d.derivations.front(), d, s);
  const Type* type = derive_type(base, d, is_array ? 1 : 0, s);
  if (!is_storable(type, d, s)) return;
  if (is_array && scope == dif::Scope::clause)
    return s.error(Tag::D_DECL_LOCASSC, d.where,
                   fmt::format("associative array may not be declared as a local variable: {}", d.name));
  if (scope == dif::Scope::global && is_function(d.name))
    return s.error(Tag::D_DECL_IDRED, d.where,
                   fmt::format("identifier redeclared: {}\n\t current: {}\n\tprevious: function", d.name, type->name));
  if (Symbol* known = s.symbols.find(scope, d.name)) return check_redeclaration(*known, type, keys, d, s);
  if (s.symbols.full(scope)) return s.error(Tag::D_UNKNOWN, d.where, "too many variables");
  Symbol& symbol = s.symbols.add_variable(scope, d.name, type);
  symbol.is_array = is_array;
  symbol.keys = std::move(keys);
}

void declare_typedef(Declarator& d, const Type* base, Session& s) {
  const Type* type = derive_type(base, d, 0, s);
  if (is_error(type)) return;
  const Type* known = s.types.find(d.name);
  if (known && &resolve(*known) != &resolve(*type))
    return s.error(
        Tag::D_DECL_IDRED, d.where,
        fmt::format("identifier redeclared: {}\n\t current: {}\n\tprevious: {}", d.name, type->name, resolve(*known).name));
  if (!known) s.types.add_typedef(d.name, type);
}

void check_class(const Specifiers& specifiers, Session& s) {
  for (const std::string& storage : specifiers.storage)
    if (storage != "extern")
      return s.error(Tag::D_DECL_BADCLASS, specifiers.where,
                     fmt::format("specified storage class not appropriate in D: {}", storage));
  if (specifiers.storage.size() + specifiers.scope.has_value() + specifiers.is_typedef > 1)
    s.error(Tag::D_DECL_CLASS, specifiers.where, "only one storage class allowed in a declaration");
}

}  // namespace

void declare_built_ins(Session& s) {
  for (const dif::BuiltInInfo& row : dif::kBuiltIns) add_built_in(row, s);
  add_constant("NULL", s.types.basic("void *"), 0, s);
}

void declare(Declaration& declaration, Session& s) {
  check_class(declaration.specifiers, s);
  const Type* base = base_type(declaration.specifiers, s);
  if (is_error(base)) return;
  const Specifiers& specifiers = declaration.specifiers;
  if (declaration.declarators.empty() &&
      (specifiers.form == TypeForm::basic || specifiers.form == TypeForm::named || specifiers.form == TypeForm::none))
    return s.error(Tag::D_DECL_USELESS, declaration.where, "useless declaration: it names no variable");
  for (Declarator& d : declaration.declarators) {
    if (specifiers.is_typedef)
      declare_typedef(d, base, s);
    else
      declare_variable(declaration, d, base, s);
  }
}

void declare(InlineDecl& declaration, Session& s) {
  Declarator& d = declaration.declarator;
  const bool has_parameters = !d.derivations.empty() && d.derivations.front().kind == Derivation::Kind::keys;
  const Type* type = derive_type(base_type(declaration.specifiers, s), d, has_parameters ? 1 : 0, s);
  if (!is_storable(type, d, s)) return;
  if (s.symbols.find(dif::Scope::global, d.name))
    return s.error(Tag::D_DECL_IDRED, d.where, fmt::format("identifier redefined: {}", d.name));
  Symbol symbol;
  symbol.kind = SymbolKind::inline_;
  symbol.name = d.name, symbol.type = type, symbol.body = declaration.value.get();
  symbol.file = &s.diagnostics.file();
  symbol.has_parameters = has_parameters;
  if (has_parameters) {
    for (const Parameter& p : d.derivations.front().parameters) {
      const Type* t = p.type ? type_of(*p.type, s) : s.types.error();
      if (is_error(t)) return;
      symbol.parameters.push_back({p.name, t});
    }
  }
  s.symbols.add(std::move(symbol));
}

void declare(ProviderDecl& declaration, Session& s) {
  s.error(Tag::D_UNKNOWN, declaration.where, fmt::format("provider {}: dvm defines no providers from D", declaration.name));
}

const Type* type_of(TypeName& name, Session& s) {
  const Type* base = base_type(name.specifiers, s);
  return derive_type(base, name.declarator, 0, s);
}

}  // namespace dvm::compiler
