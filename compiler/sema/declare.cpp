// Variables, typedefs, inlines and built-ins. Tests: tests/golden/sema (tst.declarations.d, err.D_DECL_*.d).
#include "compiler/sema/declare.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/sema/attributes.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/check_name.h"
#include "compiler/sema/declarator.h"
#include "compiler/sema/tables.h"
#include "dvm/dif/instruction.h"
#include "dvm/dif/variable.h"
#include "dvm/dif/versions.h"

namespace dvm::compiler {

namespace {

// The type that D's documentation gives a variable; DIF has its size and sign only.
const Type* built_in_type(const dif::BuiltInInfo& row, const TypeTable& types) {
  struct Named {
    std::string_view variable, type;
  };
  static constexpr Named kNamed[] = {{"pid", "pid_t"}, {"ppid", "pid_t"},  {"tid", "id_t"},          {"uid", "uid_t"},
                                     {"gid", "gid_t"}, {"errno", "int"},   {"cpu", "processorid_t"}, {"caller", "uintptr_t"},
                                     {"id", "uint_t"}, {"epid", "uint_t"}, {"ipl", "uint_t"}};
  const auto it = std::find_if(std::begin(kNamed), std::end(kNamed), [&](const Named& n) { return n.variable == row.name; });
  return it == std::end(kNamed) ? prototype_type(row.type, types) : types.basic(it->type);
}

void add_built_in(const dif::BuiltInInfo& row, Session& s) {
  Symbol symbol;
  symbol.kind = SymbolKind::built_in;
  symbol.name = row.name;
  symbol.type = built_in_type(row, s.types);
  symbol.id = static_cast<uint16_t>(row.id);
  symbol.is_array = row.kind == dif::BuiltInKind::array;
  symbol.version = dif::introduced_in(row.name);
  s.symbols.add(std::move(symbol));
}

void add_constant(const std::string& name, const Type* type, uint64_t value, Session& s) {
  Symbol symbol;
  symbol.kind = SymbolKind::constant;
  symbol.name = name, symbol.type = type, symbol.value = value;
  s.symbols.add(std::move(symbol));
}

struct DeclaredName {
  const Type* type = nullptr;
  std::vector<const Type*> keys;
  bool is_array = false;

  std::string spell() const {
    std::string text = fmt::format("{}{}", is_array ? "associative array of " : "scalar ", type->name);
    for (size_t i = 0; i < keys.size(); i++) text += fmt::format("{}{}", i == 0 ? " by " : ", ", keys[i]->name);
    return text;
  }
};

bool same_keys(const std::vector<const Type*>& a, const std::vector<const Type*>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), is_same);
}

// A variable that is there already may be declared again as what it is.
void check_redeclaration(const Symbol& known, const DeclaredName& declared, const Declarator& d, Session& s) {
  if (known.kind == SymbolKind::built_in)
    return s.error(Tag::D_DECL_IDRED, d.where, fmt::format("built-in identifier redeclared: {}", d.name));
  const DeclaredName before{known.type, known.keys, known.is_array};
  if (known.kind == SymbolKind::variable && known.is_array == declared.is_array && is_same(known.type, declared.type) &&
      same_keys(known.keys, declared.keys))
    return;
  s.error(Tag::D_DECL_IDRED, d.where,
          fmt::format("identifier redeclared: {}{}\n\t current: {}\n\tprevious: {}{}", prefix(known.scope), d.name,
                      declared.spell(), known.kind == SymbolKind::variable ? "" : "inline ", before.spell()));
}

// False after a diagnostic: there can be no object of that type.
bool is_storable(const Type* type, const Declarator& d, Session& s) {
  if (is_error(type)) return false;
  const auto refuse = [&](Tag tag, std::string message, std::vector<std::string> hints = {}) {
    s.error(tag, d.where, std::move(message), std::move(hints));
    return false;
  };
  if (is_void(type)) return refuse(Tag::D_DECL_VOIDOBJ, fmt::format("cannot have void object: {}", d.name));
  if (!resolve(*type).is_complete)
    return refuse(Tag::D_DECL_INCOMPLETE, fmt::format("incomplete struct/union/enum {}: {}", type->name, d.name),
                  s.type_hints(*type));
  if (is_array(type) && !d.derivations.empty() && d.derivations.front().kind == Derivation::Kind::array &&
      !d.derivations.front().count)
    return refuse(Tag::D_DECL_ARRNULL, fmt::format("array declaration requires array dimension or tuple signature: {}", d.name));
  if (is_array(type) && resolve(*type).size == 0)
    return refuse(Tag::D_DECL_ARRSUB,
                  "positive integral constant expression or tuple signature expected as array declaration "
                  "subscript");
  if (resolve(*type).size > kMaxObject)
    return refuse(Tag::D_DECL_ARRBIG,
                  fmt::format("{} is too large: {} bytes, at most {}", d.name, resolve(*type).size, kMaxObject));
  return true;
}

std::vector<const Type*> key_types(const Derivation& keys, const Declarator& d, Session& s) {
  PrototypeTypes found = prototype_types(keys.parameters, kArrayPrototype, nullptr, keys.where, s);
  for (const Type* t : found.types)
    if (!is_key(t))
      s.error(Tag::D_DECL_PROTO_TYPE, keys.where,
              fmt::format("array prototype may not use parameter of type {}: {}[ ]", t->name, d.name));
  if (found.types.size() > dif::kTupleDepth)
    s.error(Tag::D_PROTO_LEN, keys.where,
            fmt::format("{}[ ] has too many keys: at most {} are possible", d.name, dif::kTupleDepth));
  return std::move(found.types);
}

bool has_keys(const Declarator& d) { return !d.derivations.empty() && d.derivations.front().kind == Derivation::Kind::keys; }

// False after a diagnostic: a variable may not have this name.
bool is_free(dif::Scope scope, const Declarator& d, const Type* type, Session& s) {
  if (d.name.find('`') != std::string::npos) {
    s.error(Tag::D_DECL_SCOPE, d.where, fmt::format("D scoping operator may not be used in a declaration name ({})", d.name));
    return false;
  }
  if (s.types.find(d.name)) {
    s.error(Tag::D_DECL_IDRED, d.where, fmt::format("typedef identifier redeclared: {}", d.name));
    return false;
  }
  if (scope == dif::Scope::global && is_function(d.name, s)) {
    s.error(Tag::D_DECL_IDRED, d.where,
            fmt::format("identifier redeclared: {}\n\t current: scalar {}\n\tprevious: function", d.name, type->name));
    return false;
  }
  return true;
}

void declare_variable(dif::Scope scope, const Declarator& d, DeclaredName declared, Session& s) {
  if (!is_storable(declared.type, d, s)) return;
  if (declared.is_array && scope == dif::Scope::clause)
    return s.error(Tag::D_DECL_LOCASSC, d.where,
                   fmt::format("associative arrays may not be declared as local variables: {}", d.name));
  if (!is_free(scope, d, declared.type, s)) return;
  if (Symbol* known = s.symbols.find(scope, d.name)) return check_redeclaration(*known, declared, d, s);
  if (!has_room(scope, d.name, d.where, s)) return;
  Symbol& symbol = s.symbols.add_variable(scope, d.name, declared.type);
  symbol.is_array = declared.is_array;
  symbol.keys = std::move(declared.keys);
}

// An object or function outside of D.
void declare_external(const Declarator& d, const Type* type, Session& s) {
  const Type*& known = s.symbols.external(d.name);
  if (known && !is_same(known, type))
    return s.error(Tag::D_DECL_IDRED, d.where,
                   fmt::format("identifier redeclared: D`{}\n\t current: {}\n\tprevious: {}", d.name, type->name, known->name));
  known = type;
}

void declare_typedef(const Declarator& d, const Type* type, Session& s) {
  if (d.name.find('`') != std::string::npos)
    return s.error(Tag::D_DECL_SCOPE, d.where, fmt::format("D scoping operator may not be used in a typedef name ({})", d.name));
  if (is_error(type)) return;
  const Type* known = s.types.find(d.name);
  if (s.symbols.find(dif::Scope::global, d.name))
    return s.error(Tag::D_DECL_IDRED, d.where, fmt::format("global variable identifier redeclared: {}", d.name));
  const bool is_fixed = known && !s.types.is_replaceable(d.name);
  if (is_fixed && !is_same(known, type))
    return s.error(
        Tag::D_DECL_IDRED, d.where,
        fmt::format("typedef redeclared: {}\n\t current: {}\n\tprevious: {}", d.name, type->name, resolve(*known).name));
  if (!is_fixed) s.types.add_typedef(d.name, type);
  if (s.in_library && !is_fixed) s.types.make_replaceable(d.name);
}

bool check_class(const Specifiers& specifiers, Session& s) {
  if (specifiers.storage.size() + specifiers.scope.has_value() + specifiers.is_typedef > 1) {
    s.error(Tag::D_DECL_CLASS, specifiers.where, "only one storage class allowed in a declaration");
    return false;
  }
  for (const std::string& storage : specifiers.storage) {
    if (storage == "extern") continue;
    s.error(Tag::D_DECL_BADCLASS, specifiers.where, "specified storage class not appropriate in D",
            {fmt::format("leave out '{}'", storage)});
    return false;
  }
  return true;
}

void declare(const Specifiers& specifiers, Declarator& d, const Type* base, Session& s) {
  DeclaredName declared;
  declared.is_array = has_keys(d);
  if (declared.is_array && !specifiers.is_typedef) declared.keys = key_types(d.derivations.front(), d, s);
  declared.type = derive_type(base, d, declared.is_array && !specifiers.is_typedef ? 1 : 0, s);
  if (is_error(declared.type)) return;
  if (specifiers.is_typedef)
    return declare_typedef(d, attributed_type(attributed_type(declared.type, specifiers.attributes, s), d.attributes, s), s);
  // A function is always one of the outside.
  if (!specifiers.storage.empty() || (is_function_type(declared.type) && !specifiers.scope))
    return declare_external(d, declared.type, s);
  if (is_function_type(declared.type))
    return s.error(Tag::D_DECL_PROTO_TYPE, d.where, fmt::format("a variable cannot be a function: {}", d.name));
  declare_variable(specifiers.scope.value_or(dif::Scope::global), d, std::move(declared), s);
}

bool check_inline_class(const Specifiers& specifiers, Session& s) {
  if (specifiers.storage.empty() && !specifiers.scope && !specifiers.is_typedef) return true;
  s.error(Tag::D_DECL_BADCLASS, specifiers.where, "specified storage class not appropriate for inline declaration");
  return false;
}

// A built-in variable that dvm does not have. A library may define it.
bool is_missing(const Symbol& symbol) {
  const dif::BuiltInInfo* row = symbol.kind == SymbolKind::built_in ? dif::find_built_in(symbol.id) : nullptr;
  return row != nullptr && row->family == dif::VariableFamily::none;
}

bool add_parameters(const Derivation& keys, Symbol& symbol, Session& s) {
  const PrototypeTypes found = prototype_types(keys.parameters, kArrayPrototype, nullptr, keys.where, s);
  if (found.failed) return false;
  for (size_t i = 0; i < found.types.size(); i++) symbol.parameters.push_back({keys.parameters[i].name, found.types[i]});
  return true;
}

// What is wrong with an inline is told where it stands, once, also if nothing uses it: by using it here.
void check_definition(Symbol& symbol, Location where, Session& s) {
  const auto identifier = [&](const std::string& name) {
    auto e = std::make_unique<Identifier>(where);
    e->name = name;
    return e;
  };
  ExprPtr use = identifier(symbol.name);
  if (symbol.has_parameters) {
    auto index = std::make_unique<Index>(where);
    index->base = std::move(use);
    for (const InlineParameter& parameter : symbol.parameters)
      index->arguments.push_back(identifier(add_placeholder(parameter.type, s)));
    use = std::move(index);
  }
  ExprContext context(s);
  check(context, use);
  if (is_error(use->type)) symbol.type = s.types.error();
}

}  // namespace

std::string add_placeholder(const Type* type, Session& s) {
  Symbol symbol;
  symbol.kind = SymbolKind::parameter;
  symbol.name = s.translators.fresh_name(), symbol.type = type;
  return s.symbols.add(std::move(symbol)).name;
}

bool has_room(dif::Scope scope, std::string_view name, Location where, Session& s) {
  if (!s.symbols.full(scope)) return true;
  static constexpr const char* kScopes[] = {"global", "thread-local", "clause-local"};
  s.error(Tag::D_ID_OFLOW, where,
          fmt::format("cannot create {}: limit on number of {} variables exceeded", name, kScopes[static_cast<unsigned>(scope)]));
  return false;
}

void declare_built_ins(Session& s) {
  for (const dif::BuiltInInfo& row : dif::kBuiltIns) add_built_in(row, s);
  add_constant("NULL", s.types.basic("void *"), 0, s);
}

void declare(Declaration& declaration, Session& s) {
  if (!check_class(declaration.specifiers, s)) return;
  const Type* base = base_type(declaration.specifiers, s);
  if (is_error(base)) return;
  const Specifiers& specifiers = declaration.specifiers;
  if (declaration.declarators.empty() &&
      (specifiers.form == TypeForm::basic || specifiers.form == TypeForm::named || specifiers.form == TypeForm::none))
    return s.error(Tag::D_DECL_USELESS, declaration.where, "useless declaration: it names no variable");
  for (Declarator& d : declaration.declarators) declare(specifiers, d, base, s);
}

void declare(InlineDecl& declaration, Session& s) {
  Declarator& d = declaration.declarator;
  if (!check_inline_class(declaration.specifiers, s)) return;
  const bool has_parameters = has_keys(d);
  const Type* type = derive_type(base_type(declaration.specifiers, s), d, has_parameters ? 1 : 0, s);
  if (is_array(type) && !has_parameters)
    return s.error(Tag::D_DECL_ARRNULL, d.where, fmt::format("inline declaration cannot be of scalar array type: {}", d.name));
  if (!is_storable(type, d, s) || !is_free(dif::Scope::global, d, type, s)) return;
  if (const Symbol* known = s.symbols.find(dif::Scope::global, d.name); known && !(s.in_library && is_missing(*known)))
    return s.error(Tag::D_DECL_IDRED, d.where,
                   fmt::format("identifier redefined: {}\n\t current: inline definition\n\tprevious: {}", d.name,
                               known->kind == SymbolKind::inline_    ? "inline"
                               : known->kind == SymbolKind::built_in ? "built-in variable"
                                                                     : "scalar"));
  Symbol symbol;
  symbol.kind = SymbolKind::inline_;
  symbol.name = d.name, symbol.type = type, symbol.body = declaration.value.get();
  symbol.has_parameters = has_parameters;
  if (has_parameters && !add_parameters(d.derivations.front(), symbol, s)) return;
  check_definition(s.symbols.add(std::move(symbol)), d.where, s);
}

}  // namespace dvm::compiler
