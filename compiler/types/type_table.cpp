// The types there are. Tests: tests/unit/compiler/literal_test.cpp.
#include "compiler/types/type_table.h"

#include <fmt/format.h>

#include <array>

namespace dvm::compiler {

namespace {

struct StandardTypedef {
  std::string_view name, of;
};

constexpr StandardTypedef kTypedefs[] = {
    {"int8_t", "char"},
    {"int16_t", "short"},
    {"int32_t", "int"},
    {"int64_t", "long"},
    {"intptr_t", "long"},
    {"uint8_t", "unsigned char"},
    {"uint16_t", "unsigned short"},
    {"uint32_t", "unsigned int"},
    {"uint64_t", "unsigned long"},
    {"uintptr_t", "unsigned long"},
    {"uchar_t", "unsigned char"},
    {"ushort_t", "unsigned short"},
    {"uint_t", "unsigned int"},
    {"u_int", "unsigned int"},
    {"ulong_t", "unsigned long"},
    {"u_longlong_t", "unsigned long long"},
    {"longlong_t", "long long"},
    {"size_t", "unsigned long"},
    {"ssize_t", "long"},
    {"off_t", "long"},
    {"loff_t", "long"},
    {"ptrdiff_t", "long"},
    {"time_t", "long"},
    {"clock_t", "long"},
    {"hrtime_t", "long long"},
    {"pid_t", "int"},
    {"id_t", "int"},
    {"uid_t", "unsigned int"},
    {"gid_t", "unsigned int"},
    {"mode_t", "unsigned int"},
    {"dev_t", "unsigned long"},
    {"ino_t", "unsigned long"},
    {"zoneid_t", "int"},
    {"processorid_t", "int"},
    {"bool", "_Bool"},
    {"caddr_t", "char *"},
    {"boolean_t", "int"},
    {"wchar_t", "int"},
};

constexpr auto kStandardNames = [] {
  std::array<std::string_view, std::size(kTypedefs)> names;
  for (size_t i = 0; i < names.size(); i++) names[i] = kTypedefs[i].name;
  return names;
}();

// "int *" for "int", "int *[3]" for arrays of it: a pointer's star stands apart from a word only.
std::string with_star(const std::string& name) { return name + (name.ends_with('*') ? "*" : " *"); }

}  // namespace

std::span<const std::string_view> TypeTable::standard_names() { return kStandardNames; }

TypeTable::TypeTable() {
  error_.name = "<error>";
  add_basic("void", TypeClass::void_, 0, false);
  add_basic("string", TypeClass::string, 256, false);
  add_basic("_Bool", TypeClass::integer, 1, false);
  for (const auto& [name, size] : {std::pair{"char", 1}, {"short", 2}, {"int", 4}, {"long", 8}, {"long long", 8}}) {
    add_basic(name, TypeClass::integer, static_cast<unsigned>(size), true);
    add_basic(fmt::format("unsigned {}", name), TypeClass::integer, static_cast<unsigned>(size), false);
  }
  add_basic("float", TypeClass::floating, 4, true);
  add_basic("double", TypeClass::floating, 8, true);
  add_basic("long double", TypeClass::floating, 16, true);
  names_["signed char"] = names_.at("char");
  names_["char *"] = pointer_to(basic("char"));
  names_["void *"] = pointer_to(basic("void"));
  for (const StandardTypedef& t : kTypedefs) add_typedef(std::string(t.name), basic(t.of));
}

void TypeTable::add_basic(std::string_view name, TypeClass cls, unsigned size, bool is_signed) {
  Type t;
  t.cls = cls, t.name = name, t.size = size, t.align = size ? std::min(size, 16u) : 1, t.is_signed = is_signed;
  t.is_char = name == "char" || name == "unsigned char";
  if (cls == TypeClass::string) t.align = 1;
  names_[std::string(name)] = &make(std::move(t));
}

Type& TypeTable::make(Type type) { return types_.emplace_back(std::move(type)); }

const Type* TypeTable::find(std::string_view name) const {
  const auto it = names_.find(name);
  return it == names_.end() ? nullptr : it->second;
}

const Type* TypeTable::basic(std::string_view name) const { return names_.find(name)->second; }

const Type* TypeTable::pointer_to(const Type* target) {
  if (target == &error_) return target;
  const Type*& known = pointers_[target];
  if (known) return known;
  Type t;
  t.cls = TypeClass::pointer, t.name = with_star(target->name), t.size = t.align = 8, t.target = target;
  return known = &make(std::move(t));
}

const Type* TypeTable::array_of(const Type* element, uint64_t count) {
  if (element == &error_) return element;
  const Type*& known = arrays_[{element, count}];
  if (known) return known;
  Type t;
  // Dimensions read from the outside in: int [2][3] is 2 of int [3].
  const size_t bracket = element->cls == TypeClass::array ? element->name.find('[') : std::string::npos;
  t.name = bracket == std::string::npos
               ? fmt::format("{} [{}]", element->name, count)
               : fmt::format("{}[{}]{}", element->name.substr(0, bracket), count, element->name.substr(bracket));
  t.cls = TypeClass::array, t.size = element->size * count, t.align = element->align, t.target = element, t.count = count;
  return known = &make(std::move(t));
}

const Type* TypeTable::function() {
  if (const Type* known = find("function")) return known;
  Type t;
  t.cls = TypeClass::function, t.name = "function";
  return names_["function"] = &make(std::move(t));
}

void TypeTable::add_typedef(const std::string& name, const Type* type) {
  Type t = *type;
  t.fields.clear();
  t.name = name, t.alias = type;
  names_[name] = &make(std::move(t));
}

Type* TypeTable::find_tag(std::string_view keyword, const std::string& name) {
  const auto it = tags_.find(fmt::format("{} {}", keyword, name));
  return it == tags_.end() ? nullptr : it->second;
}

Type* TypeTable::tag(std::string_view keyword, const std::string& name) {
  if (Type* known = name.empty() ? nullptr : find_tag(keyword, name)) return known;
  Type t;
  t.name = name.empty() ? fmt::format("{} (anon)", keyword) : fmt::format("{} {}", keyword, name);
  t.cls = keyword == "enum" ? TypeClass::enumeration : TypeClass::record;
  t.is_union = keyword == "union", t.is_complete = false;
  if (t.cls == TypeClass::enumeration) t.size = t.align = 4, t.is_signed = true;
  Type& made = make(std::move(t));
  tags_[name.empty() ? fmt::format("{} #{}", keyword, anonymous_++) : made.name] = &made;
  return &made;
}

const Type* TypeTable::of_constant(uint64_t value, bool decimal, bool is_unsigned, bool is_long) const {
  constexpr uint64_t kInt = 0x7fffffff, kUnsigned = 0xffffffff, kLong = 0x7fffffffffffffff;
  if (!is_long) {
    if (value <= kInt && !is_unsigned) return basic("int");
    if (value <= kUnsigned && (!decimal || is_unsigned)) return basic("unsigned int");
  }
  return value <= kLong && !is_unsigned ? basic("long") : basic("unsigned long");
}

const Type* TypeTable::promote(const Type* type) const {
  const Type& t = resolve(*type);
  return t.cls == TypeClass::enumeration || t.size < 4 ? basic("int") : type;
}

const Type* TypeTable::common(const Type* a, const Type* b) const {
  a = promote(a), b = promote(b);
  const Type &left = resolve(*a), &right = resolve(*b);
  if (left.size != right.size) return left.size > right.size ? a : b;
  return left.is_signed && !right.is_signed ? b : a;
}

}  // namespace dvm::compiler
