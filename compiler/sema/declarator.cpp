// Types as C declares them, laid out as the x86-64 ABI has it. Tests: tests/golden/sema (tst.layout.d, err.D_DECL_*.d).
#include "compiler/sema/declarator.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/similar.h"
#include "compiler/sema/attributes.h"
#include "compiler/sema/check_expr.h"
#include "compiler/sema/check_name.h"
#include "compiler/sema/find_type.h"
#include "compiler/types/layout.h"

namespace dvm::compiler {

namespace {

const Type* fail(Session& s, Tag tag, Location where, std::string message, std::vector<std::string> hints = {}) {
  s.error(tag, where, std::move(message), std::move(hints));
  return s.types.error();
}

struct Words {
  int count(std::string_view word) const { return static_cast<int>(std::count(list.begin(), list.end(), word)); }
  const std::vector<std::string>& list;
};

const Type* check_attributes(const Words& w, Location where, Session& s) {
  const bool sign = w.count("signed") + w.count("unsigned") != 0, length = w.count("long") + w.count("short") != 0;
  if (w.count("void") && (sign || length))
    return fail(s, Tag::D_DECL_VOIDATTR, where, "invalid type declaration: attributes specified for void");
  if (w.count("char") && length)
    return fail(s, Tag::D_DECL_CHARATTR, where, "invalid type declaration: short and long may not be used with char type");
  if (sign && (w.count("float") || w.count("double") || w.count("string") || w.count("_Bool")))
    return fail(s, Tag::D_DECL_SIGNINT, where,
                "invalid type declaration: signed and unsigned may only be used with integer type");
  if (length && (w.count("float") || w.count("string") || w.count("_Bool") || (w.count("double") && w.count("long") != 1)))
    return fail(s, Tag::D_DECL_LONGINT, where, "invalid type declaration: short and long may only be used with integer type");
  return nullptr;
}

// "unsigned long int" to its type.
const Type* basic_type(const Specifiers& spec, Session& s) {
  const Words w{spec.words};
  int bases = 0;
  std::string base = "int";
  for (const char* name : {"void", "char", "int", "float", "double", "string", "_Bool"}) {
    if (w.count(name)) base = name;
    bases += w.count(name);
  }
  const bool both = w.count("signed") && w.count("unsigned");
  if (bases > 1 || both || w.count("long") > 2 || (w.count("long") && w.count("short")) || w.count("short") > 1 ||
      w.count("signed") > 1 || w.count("unsigned") > 1)
    return fail(s, Tag::D_DECL_COMBO, spec.where, "invalid type combination");
  if (const Type* error = check_attributes(w, spec.where, s)) return error;
  if (base == "double" && w.count("long")) return s.types.basic("long double");
  if (base == "int" && w.count("long")) base = w.count("long") == 2 ? "long long" : "long";
  if (base == "int" && w.count("short")) base = "short";
  return s.types.basic(w.count("unsigned") ? "unsigned " + base : base);
}

bool constant_of(ExprPtr& e, int64_t& value, Session& s) {
  ExprContext context(s);
  check(context, e);
  return constant(*e, value);
}

// Reports a number that is not what its place needs, unless an error in its expression was reported.
void report_number(const Expr& e, Tag tag, Location where, std::string message, Session& s) {
  if (!is_error(e.type)) s.error(tag, where, std::move(message));
}

void add_bitfield(MemberDecl& m, const Type* type, StructLayout& layout, Session& s) {
  int64_t width = 0;
  const Location where = m.width->where;
  const std::string& name = m.declarator.name;
  if (!constant_of(m.width, width, s) || width < 0 || (width == 0 && !name.empty()))
    return report_number(*m.width, Tag::D_DECL_BFCONST, where, "positive integral constant expression expected as bit-field size",
                         s);
  if (!is_integer(type))
    return s.error(Tag::D_DECL_BFTYPE, m.declarator.where,
                   fmt::format("invalid type for bit-field: {}", name.empty() ? "(anon)" : name),
                   {fmt::format("{} is not an integer type", type->name)});
  const unsigned bits = resolve(*type).is_bool ? 1 : static_cast<unsigned>(resolve(*type).size * 8);
  if (width > bits)
    return s.error(Tag::D_DECL_BFSIZE, where, fmt::format("bit-field too big for type: {}", name.empty() ? "(anon)" : name),
                   {fmt::format("{} has {} bit{}", type->name, bits, bits == 1 ? "" : "s")});
  if (!layout.add_bits(name, type, static_cast<unsigned>(width)))
    s.error(Tag::D_DECL_BFSIZE, where, fmt::format("packed bit-field lies in more than eight bytes: {}", name));
}

void redeclared_member(const std::string& name, Location where, const Type& record, Session& s) {
  s.error(Tag::D_DECL_IDRED, where, fmt::format("duplicate member {} in {}", name, record.name));
}

// "struct { ... };" in a record: its members are the record's own.
void add_anonymous(MemberDecl& m, const Type* type, StructLayout& layout, const Type& record, Session& s) {
  if (!is_record(type) || !m.specifiers->has_body || !m.specifiers->name.empty())
    return s.error(Tag::D_DECL_MNAME, m.declarator.where, "member declaration requires a name",
                   {"only a struct or union without a tag may be unnamed"});
  for (const Field& f : resolve(*type).fields)
    if (record.find(f.name)) return redeclared_member(f.name, m.declarator.where, record, s);
  layout.add_anonymous(type);
}

void add_member(MemberDecl& m, const Type* base, StructLayout& layout, const Type& record, Session& s) {
  const Type* type = derive_type(base, m.declarator, 0, s);
  if (is_error(type)) return;
  const std::string& name = m.declarator.name;
  const Location where = m.declarator.where;
  if (!name.empty() && record.find(name)) return redeclared_member(name, where, record, s);
  if (m.is_bitfield) return add_bitfield(m, type, layout, s);
  if (name.empty()) return add_anonymous(m, type, layout, record, s);
  if (name.find('`') != std::string::npos)
    return s.error(Tag::D_DECL_SCOPE, where, fmt::format("D scoping operator may not be used in a member name ({})", name));
  if (is_void(type) || is_function_type(type))
    return s.error(Tag::D_DECL_VOIDOBJ, where,
                   fmt::format("cannot have {} member: {}", is_void(type) ? "void" : "function", name));
  if (!resolve(*type).is_complete)
    return s.error(Tag::D_DECL_INCOMPLETE, where, fmt::format("incomplete struct/union/enum {}: {}", type->name, name),
                   s.type_hints(*type));
  if (resolve(*type).size > kMaxType) return;  // diagnosed where it was defined
  const LayoutRules rules = layout_rules(m.specifiers->attributes, m.declarator.attributes, s);
  layout.add(name, type, rules.is_packed, rules.alignment);
}

// What a definition defines: not what a library has defined.
Type* defined_tag(std::string_view keyword, const Specifiers& spec, Session& s) {
  Type* known = s.types.tag(keyword, spec.name);
  return known->is_of_library && !s.in_library ? s.types.replace_tag(keyword, spec.name) : known;
}

const Type* record_type(Specifiers& spec, Session& s) {
  const char* keyword = spec.form == TypeForm::structure ? "struct" : "union";
  if (!spec.has_body) return named_tag(spec, keyword, s);
  Type* record = defined_tag(keyword, spec, s);
  if (record->is_complete || record->is_open)
    return fail(s, Tag::D_DECL_TYPERED, spec.where, fmt::format("type redeclared: {}", record->name));
  const LayoutRules rules = layout_rules(spec.of_record, s);
  StructLayout layout(*record, rules.is_packed, rules.alignment);
  std::shared_ptr<Specifiers> last;
  const Type* base = nullptr;
  for (MemberDecl& m : spec.members) {
    if (m.specifiers != last) last = m.specifiers, base = base_type(*last, s);
    add_member(m, base, layout, *record, s);
  }
  layout.close();
  record->is_of_library = s.in_library;
  if (record->size > kMaxType) return fail(s, Tag::D_DECL_ARRBIG, spec.where, fmt::format("{} is too large", record->name));
  return record;
}

bool is_included(Location where, const Session& s) { return !s.diagnostics.file().place(where.begin).included_from.empty(); }

// As GCC has it: an unsigned int, or as many bytes as the values need, where an int is too small. A packed one is the smallest.
void size_enum(Type& type, const LayoutRules& rules) {
  int64_t least = 0, most = 0;
  for (const auto& [name, value] : type.enumerators) least = std::min(least, value), most = std::max(most, value);
  const auto fits = [&](unsigned bytes) {
    const unsigned bits = bytes * 8 - (least < 0);
    return bits >= 63 || (most >> bits == 0 && (least == 0 || -(least + 1) >> bits == 0));
  };
  unsigned bytes = rules.is_packed ? 1 : 4;
  while (bytes < 8 && !fits(bytes)) bytes *= 2;
  type.size = type.align = bytes;
  type.is_signed = least < 0 || (!rules.is_packed && most <= INT32_MAX);
}

void add_enumerator(EnumeratorDecl& e, int64_t& next, Type* type, Session& s) {
  if (e.name.find('`') != std::string::npos)
    return s.error(Tag::D_DECL_SCOPE, e.where,
                   fmt::format("D scoping operator may not be used in an enumerator name ({})", e.name));
  if (e.value) {
    const Location where = e.value->where;
    if (!constant_of(e.value, next, s))
      return report_number(*e.value, Tag::D_DECL_ENCONST, where,
                           fmt::format("enumerator '{}' must be assigned to an integral constant expression", e.name), s);
  }
  if ((next < INT32_MIN || next > INT32_MAX) && !is_included(e.where, s))
    return s.error(Tag::D_DECL_ENOFLOW, e.where, fmt::format("enumerator '{}' value overflows INT_MAX ({})", e.name, INT32_MAX));
  if (s.symbols.find(dif::Scope::global, e.name) || is_function(e.name, s))
    return s.error(Tag::D_DECL_IDRED, e.where, fmt::format("identifier redeclared: {}", e.name));
  type->enumerators.emplace_back(e.name, next);
  Symbol symbol;
  symbol.kind = SymbolKind::constant;
  symbol.name = e.name, symbol.type = type, symbol.value = static_cast<uint64_t>(next++);
  s.symbols.add(std::move(symbol));
}

const Type* enum_type(Specifiers& spec, Session& s) {
  if (!spec.has_body) return named_tag(spec, "enum", s);
  Type* type = s.types.tag("enum", spec.name);
  if (type->is_complete || type->is_open)
    return fail(s, Tag::D_DECL_TYPERED, spec.where, fmt::format("type redeclared: {}", type->name));
  type->is_open = true;
  int64_t next = 0;
  for (EnumeratorDecl& e : spec.enumerators) add_enumerator(e, next, type, s);
  size_enum(*type, layout_rules(spec.of_record, s));
  type->is_open = false, type->is_complete = true;
  return type;
}

// "[]" is an array of no elements; whoever declares a variable of it says so.
const Type* array_type(const Type* element, Derivation& d, Session& s) {
  int64_t count = 0;
  const Location where = d.count ? d.count->where : d.where;
  if (is_void(element)) return fail(s, Tag::D_DECL_VOIDOBJ, d.where, "cannot declare array of void");
  if (d.count && (!constant_of(d.count, count, s) || count < 0)) {
    report_number(*d.count, Tag::D_DECL_ARRSUB, where,
                  "positive integral constant expression or tuple signature expected as array declaration subscript", s);
    return s.types.error();
  }
  if (!is_object(element))
    return fail(s, Tag::D_DECL_INCOMPLETE, d.where, fmt::format("array of incomplete type {}", element->name),
                s.type_hints(*element));
  if (resolve(*element).size && static_cast<uint64_t>(count) > kMaxType / resolve(*element).size)
    return fail(s, Tag::D_DECL_ARRBIG, where, "array dimension too big",
                {fmt::format("an object may have at most {} bytes", kMaxType)});
  return s.types.array_of(element, static_cast<uint64_t>(count));
}

const Type* function_type(const Type* result, const Derivation& d, Session& s) {
  const PrototypeTypes prototype = prototype_types(d.parameters, kFunctionPrototype, nullptr, d.where, s);
  if (prototype.failed) return s.types.error();
  std::string text = prototype.is_void ? "void" : "";
  for (const Type* t : prototype.types) text += (text.empty() ? "" : ", ") + t->name;
  if (prototype.varies) text += text.empty() ? "..." : ", ...";
  return s.types.function(result, text);
}

std::string spell(const Qualifiers& q) {
  std::string text;
  for (const auto& [is_set, word] : {std::pair{q.is_const, "const"}, {q.is_volatile, "volatile"}, {q.is_restrict, "restrict"}})
    if (is_set) text += fmt::format("{}{}", text.empty() ? "" : " ", word);
  return text;
}

const Type* unqualified_type(Specifiers& spec, Session& s) {
  if (spec.mixed) return fail(s, Tag::D_DECL_COMBO, spec.where, "invalid type combination");
  switch (spec.form) {
    case TypeForm::basic:
      return basic_type(spec, s);
    case TypeForm::structure:
    case TypeForm::union_:
      return record_type(spec, s);
    case TypeForm::enumeration:
      return enum_type(spec, s);
    case TypeForm::named:
      break;
    case TypeForm::none:
      return s.types.basic("int");
  }
  return named_type(spec, s);
}

}  // namespace

std::vector<std::string> Session::missing_hints(const Type* type) const {
  std::vector<std::string> hints = type_hints(*type), reason = why_missing(type);
  hints.insert(hints.end(), reason.begin(), reason.end());
  return hints;
}

std::vector<std::string> Session::type_hints(const Type& type) const {
  if (resolve(type).is_complete) return {};
  return near_hints(resolve(type).name, types.complete_tags());
}

const Type* base_type(Specifiers& spec, Session& s) {
  return s.types.qualified(unqualified_type(spec, s), spell(spec.qualifiers));
}

// What stands nearest the name applies last: int *a[3] is 3 of pointers to int.
const Type* derive_type(const Type* base, Declarator& declarator, size_t skip, Session& s) {
  const Type* type = base;
  for (size_t i = declarator.derivations.size(); i-- > skip && !is_error(type);) {
    Derivation& d = declarator.derivations[i];
    switch (d.kind) {
      case Derivation::Kind::pointer:
        type = s.types.qualified(s.types.pointer_to(type), spell(d.qualifiers));
        break;
      case Derivation::Kind::array:
        type = array_type(type, d, s);
        break;
      case Derivation::Kind::function:
        type = function_type(type, d, s);
        break;
      case Derivation::Kind::keys:
        return fail(s, Tag::D_DECL_DYNOBJ, d.where,
                    i == 0 ? "cannot have dynamic object" : "cannot declare array of associative arrays",
                    {"a tuple signature may only follow the name of a variable"});
    }
  }
  return type;
}

namespace {

bool has_name(const std::vector<Parameter>& list, size_t count, const std::string& name) {
  return std::any_of(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(count),
                     [&](const Parameter& p) { return p.name == name; });
}

class PrototypeReader {
 public:
  PrototypeReader(const std::vector<Parameter>& list, const PrototypeRules& rules, const std::vector<Parameter>* formals,
                  Session& s)
      : list_(list), rules_(rules), formals_(formals), s_(s) {}

  PrototypeTypes check(Location where) {
    for (size_t i = 0; i < list_.size(); i++) add(i, where);
    if (found_.is_void && list_.size() > 1) error(Tag::D_DECL_PROTO_VOID, where, "void must be sole parameter");
    return std::move(found_);
  }

 private:
  void error(Tag tag, Location where, std::string message) {
    s_.error(tag, where, std::move(message));
    found_.failed = true;
  }

  void add(size_t i, Location where) {
    const Parameter& p = list_[i];
    found_.varies |= !p.type;
    if (!p.type && !rules_.may_vary)
      return error(Tag::D_DECL_PROTO_VARARGS, where,
                   fmt::format("{} prototype may not use a variable-length argument list", rules_.kind));
    if (!p.type) return;
    const Location at = p.type->declarator.where;
    check_class(*p.type, at);
    const Type* type = type_of(*p.type, s_);
    if (is_error(type)) {
      found_.failed = true;
      return;
    }
    if (is_void(type) && !rules_.may_be_void)
      return error(Tag::D_DECL_PROTO_TYPE, at,
                   fmt::format("{} prototype may not use parameter of type void: {}, parameter #{}", rules_.kind,
                               p.name.empty() ? "(anonymous)" : p.name, i + 1));
    check_name(i, is_void(type), at);
    found_.is_void |= is_void(type);
    if (!is_void(type)) found_.types.push_back(type);
  }

  void check_class(const TypeName& type, Location at) {
    const Specifiers& spec = type.specifiers;
    const bool plain = !spec.is_typedef && !spec.scope &&
                       std::all_of(spec.storage.begin(), spec.storage.end(), [](const auto& word) { return word == "register"; });
    if (!plain) error(Tag::D_DECL_PARMCLASS, at, "inappropriate storage class for function or associative array parameter");
  }

  void check_name(size_t i, bool is_void, Location at) {
    const std::string& name = list_[i].name;
    if (is_void && !name.empty())
      error(Tag::D_DECL_PROTO_NAME, at, fmt::format("void parameter may not have a name: {}", name));
    else if (!is_void && name.empty() && rules_.needs_names)
      error(Tag::D_DECL_PROTO_NAME, at, fmt::format("parameter declaration requires a name: parameter #{}", i + 1));
    else if (!name.empty() && (formals_ ? !has_name(*formals_, formals_->size(), name) : has_name(list_, i, name)))
      error(Tag::D_DECL_PROTO_FORM, at,
            fmt::format("parameter is {} declared in {} prototype: {}, parameter #{}", formals_ ? "not" : "already", rules_.kind,
                        name, i + 1));
  }

  const std::vector<Parameter>& list_;
  const PrototypeRules& rules_;
  const std::vector<Parameter>* formals_;
  Session& s_;
  PrototypeTypes found_;
};

}  // namespace

PrototypeTypes prototype_types(const std::vector<Parameter>& parameters, const PrototypeRules& rules,
                               const std::vector<Parameter>* formals, Location where, Session& s) {
  return PrototypeReader(parameters, rules, formals, s).check(where);
}

const Type* type_of(TypeName& name, Session& s) {
  const Type* base = base_type(name.specifiers, s);
  return derive_type(base, name.declarator, 0, s);
}

}  // namespace dvm::compiler
