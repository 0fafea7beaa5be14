// Types as C declares them, laid out as the x86-64 ABI has it. Tests: tests/golden/sema (tst.layout.d, err.D_DECL_*.d).
#include "compiler/sema/declarator.h"

#include <fmt/format.h>

#include <algorithm>

#include "compiler/sema/check_types.h"

namespace dvm::compiler {

namespace {

const Type* fail(Session& s, Tag tag, Location where, std::string message) {
  s.error(tag, where, std::move(message));
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

// Places members one after another, or for a union all at 0; bit-fields share units of their declared type.
class Layout {
 public:
  explicit Layout(Type& record) : record_(record) {}

  void add(std::string name, const Type* type) {
    const Type& t = resolve(*type);
    const uint64_t offset = record_.is_union ? 0 : align((bits_ + 7) / 8, t.align);
    record_.fields.push_back({std::move(name), type, offset, 0, 0, 0});
    finish(t.align, (offset + t.size) * 8);
  }

  void add_bits(std::string name, const Type* type, unsigned width) {
    const Type& t = resolve(*type);
    const uint64_t unit = t.size * 8;
    uint64_t at = record_.is_union ? 0 : bits_;
    if (width == 0) {
      bits_ = align(bits_, unit);
      return;
    }
    if (at / unit != (at + width - 1) / unit) at = align(at, unit);
    if (!name.empty())
      record_.fields.push_back(
          {std::move(name), type, at / unit * t.size, width, static_cast<unsigned>(at % unit), static_cast<unsigned>(t.size)});
    finish(t.align, at + width);
  }

  void close() {
    record_.size = align((largest_ + 7) / 8, record_.align);
    record_.is_complete = true;
  }

 private:
  static uint64_t align(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

  void finish(uint64_t alignment, uint64_t end) {
    record_.align = std::max(record_.align, alignment);
    bits_ = end;
    largest_ = std::max(largest_, end);
  }

  Type& record_;
  uint64_t bits_ = 0;
  uint64_t largest_ = 0;
};

bool constant_of(ExprPtr& e, int64_t& value, Session& s) {
  ExprChecker checker(s);
  checker.check(e);
  return ExprChecker::constant(*e, value);
}

void add_bitfield(MemberDecl& m, const Type* type, Layout& layout, Session& s) {
  int64_t width = 0;
  const Location where = m.width->where;
  if (!is_integer(type)) return s.error(Tag::D_DECL_BFTYPE, where, fmt::format("invalid type for bit-field: {}", type->name));
  if (!constant_of(m.width, width, s)) return s.error(Tag::D_DECL_BFCONST, where, "bit-field size must be an integer constant");
  if (width < 0 || width > static_cast<int64_t>(resolve(*type).size * 8) || (width == 0 && !m.declarator.name.empty()))
    return s.error(Tag::D_DECL_BFSIZE, where, fmt::format("invalid bit-field size: {}", width));
  layout.add_bits(m.declarator.name, type, static_cast<unsigned>(width));
}

void add_member(MemberDecl& m, const Type* base, Layout& layout, const Type& record, Session& s) {
  const Type* type = derive_type(base, m.declarator, 0, s);
  if (is_error(type)) return;
  const std::string& name = m.declarator.name;
  if (!name.empty() && record.find(name))
    return s.error(Tag::D_DECL_IDRED, m.declarator.where, fmt::format("duplicate member {} in {}", name, record.name));
  if (m.is_bitfield) return add_bitfield(m, type, layout, s);
  if (is_void(type)) return s.error(Tag::D_DECL_VOIDOBJ, m.declarator.where, fmt::format("cannot have void object: {}", name));
  if (!resolve(*type).is_complete || cls(type) == TypeClass::function || resolve(*type).size > kMaxObject)
    return s.error(Tag::D_DECL_INCOMPLETE, m.declarator.where,
                   fmt::format("incomplete struct/union/enum {}: {}", type->name, name));
  layout.add(name, type);
}

const Type* record_type(Specifiers& spec, Session& s) {
  const char* keyword = spec.form == TypeForm::structure ? "struct" : "union";
  Type* record = s.types.tag(keyword, spec.name);
  if (!spec.has_body) return record;
  if (record->is_complete) return fail(s, Tag::D_DECL_TYPERED, spec.where, fmt::format("type redeclared: {}", record->name));
  Layout layout(*record);
  std::shared_ptr<Specifiers> last;
  const Type* base = nullptr;
  for (MemberDecl& m : spec.members) {
    if (m.specifiers != last) last = m.specifiers, base = base_type(*last, s);
    add_member(m, base, layout, *record, s);
  }
  layout.close();
  if (record->size > kMaxObject) return fail(s, Tag::D_DECL_ARRBIG, spec.where, fmt::format("{} is too large", record->name));
  return record;
}

void add_enumerator(EnumeratorDecl& e, int64_t& next, const Type* type, Session& s) {
  if (e.value) {
    const Location where = e.value->where;
    if (!constant_of(e.value, next, s))
      return s.error(Tag::D_DECL_ENCONST, where,
                     fmt::format("enumerator '{}' must be assigned to an integral constant expression", e.name));
  }
  if (next < INT32_MIN || next > INT32_MAX)
    return s.error(Tag::D_DECL_ENOFLOW, e.where, fmt::format("enumerator '{}' value overflows int", e.name));
  if (s.symbols.find(dif::Scope::global, e.name))
    return s.error(Tag::D_DECL_IDRED, e.where, fmt::format("identifier redeclared: {}", e.name));
  Symbol symbol;
  symbol.kind = SymbolKind::constant;
  symbol.name = e.name, symbol.type = type, symbol.value = static_cast<uint64_t>(next++);
  s.symbols.add(std::move(symbol));
}

const Type* enum_type(Specifiers& spec, Session& s) {
  Type* type = s.types.tag("enum", spec.name);
  if (!spec.has_body) return type;
  if (type->is_complete) return fail(s, Tag::D_DECL_TYPERED, spec.where, fmt::format("type redeclared: {}", type->name));
  type->is_complete = true;
  int64_t next = 0;
  for (EnumeratorDecl& e : spec.enumerators) add_enumerator(e, next, type, s);
  return type;
}

const Type* array_type(const Type* element, Derivation& d, Session& s) {
  int64_t count = 0;
  if (!d.count) return fail(s, Tag::D_DECL_ARRNULL, d.where, "array declaration requires array dimension");
  const Location where = d.count->where;
  if (!constant_of(d.count, count, s) || count < 0)
    return fail(s, Tag::D_DECL_ARRSUB, where,
                "positive integral constant expression or tuple signature expected as array declaration subscript");
  if (is_void(element) || !resolve(*element).is_complete || cls(element) == TypeClass::function)
    return fail(s, Tag::D_DECL_INCOMPLETE, d.where, fmt::format("array of incomplete type {}", element->name));
  if (resolve(*element).size && static_cast<uint64_t>(count) > kMaxObject / resolve(*element).size)
    return fail(s, Tag::D_DECL_ARRBIG, where, "array dimension too big");
  return s.types.array_of(element, static_cast<uint64_t>(count));
}

}  // namespace

const Type* base_type(Specifiers& spec, Session& s) {
  if (spec.is_scoped || spec.is_userland)
    return fail(s, Tag::D_UNKNOWN, spec.where, "dvm reads no types of the traced process yet");
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
  const Type* named = s.types.find(spec.name);
  return named ? named : fail(s, Tag::D_UNKNOWN, spec.where, fmt::format("failed to resolve type {}", spec.name));
}

// What stands nearest the name applies last: int *a[3] is 3 of pointers to int.
const Type* derive_type(const Type* base, Declarator& declarator, size_t skip, Session& s) {
  const Type* type = base;
  for (size_t i = declarator.derivations.size(); i-- > skip && !is_error(type);) {
    Derivation& d = declarator.derivations[i];
    switch (d.kind) {
      case Derivation::Kind::pointer:
        type = s.types.pointer_to(type);
        break;
      case Derivation::Kind::array:
        type = array_type(type, d, s);
        break;
      case Derivation::Kind::function:
        type = s.types.function();
        break;
      case Derivation::Kind::keys:
        return fail(s, Tag::D_DECL_ARRSUB, d.where, "a tuple signature may only follow the name of a variable");
    }
  }
  return type;
}

}  // namespace dvm::compiler
