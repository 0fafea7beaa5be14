// The types there are. Tests: tests/unit/compiler/literal_test.cpp.
#include "compiler/types/type_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace dvm::compiler {

namespace {

struct StandardTypedef {
  std::string_view name, of;
};

// dtrace's own, which a script may not define as something else.
constexpr StandardTypedef kReserved[] = {
    {"int8_t", "char"},
    {"int16_t", "short"},
    {"int32_t", "int"},
    {"int64_t", "long"},
    {"intptr_t", "long"},
    {"ssize_t", "long"},
    {"uint8_t", "unsigned char"},
    {"uint16_t", "unsigned short"},
    {"uint32_t", "unsigned int"},
    {"uint64_t", "unsigned long"},
    {"uchar_t", "unsigned char"},
    {"ushort_t", "unsigned short"},
    {"uint_t", "unsigned int"},
    {"ulong_t", "unsigned long"},
    {"u_longlong_t", "unsigned long long"},
    {"ptrdiff_t", "long"},
    {"uintptr_t", "unsigned long"},
    {"size_t", "unsigned long"},
    {"pid_t", "int"},
};

// What dtrace finds in the types of its kernel (sys/types.h) and scripts count on, as Linux has it.
constexpr StandardTypedef kCustomary[] = {
    {"longlong_t", "long long"},
    {"uint", "unsigned int"},
    {"ushort", "unsigned short"},
    {"ulong", "unsigned long"},
    {"u_char", "unsigned char"},
    {"u_short", "unsigned short"},
    {"u_int", "unsigned int"},
    {"u_long", "unsigned long"},
    {"u_int8_t", "unsigned char"},
    {"u_int16_t", "unsigned short"},
    {"u_int32_t", "unsigned int"},
    {"u_int64_t", "unsigned long"},
    {"intmax_t", "long"},
    {"uintmax_t", "unsigned long"},
    {"off_t", "long"},
    {"off64_t", "long"},
    {"loff_t", "long"},
    {"time_t", "long"},
    {"suseconds_t", "long"},
    {"useconds_t", "unsigned int"},
    {"clock_t", "long"},
    {"clockid_t", "int"},
    {"id_t", "int"},
    {"timer_t", "void *"},
    {"hrtime_t", "long long"},
    {"uid_t", "unsigned int"},
    {"gid_t", "unsigned int"},
    {"mode_t", "unsigned int"},
    {"dev_t", "unsigned long"},
    {"major_t", "unsigned int"},
    {"minor_t", "unsigned int"},
    {"ino_t", "unsigned long"},
    {"ino64_t", "unsigned long"},
    {"nlink_t", "unsigned long"},
    {"blksize_t", "long"},
    {"blkcnt_t", "long"},
    {"fsblkcnt_t", "unsigned long"},
    {"fsfilcnt_t", "unsigned long"},
    {"key_t", "int"},
    {"socklen_t", "unsigned int"},
    {"sa_family_t", "unsigned short"},
    {"in_port_t", "unsigned short"},
    {"in_addr_t", "unsigned int"},
    {"zoneid_t", "int"},
    {"taskid_t", "int"},
    {"projid_t", "int"},
    {"poolid_t", "int"},
    {"processorid_t", "int"},
    {"psetid_t", "int"},
    {"cpuid_t", "int"},
    {"boolean_t", "int"},
    {"bool", "_Bool"},
    {"caddr_t", "char *"},
    {"daddr_t", "int"},
    {"wchar_t", "int"},
    {"wint_t", "unsigned int"},
};

// Of illumos. A program may have other types of these names.
constexpr StandardTypedef kOfIllumos[] = {
    {"offset_t", "long long"},
    {"u_offset_t", "unsigned long long"},
    {"diskaddr_t", "unsigned long long"},
    {"len_t", "unsigned long long"},
    {"pgcnt_t", "unsigned long"},
    {"spgcnt_t", "long"},
    {"rlim_t", "unsigned long"},
    {"pri_t", "short"},
    {"cnt_t", "short"},
    {"index_t", "short"},
    {"sysid_t", "short"},
    {"use_t", "unsigned char"},
    {"unchar", "unsigned char"},
    {"lwpid_t", "unsigned int"},
    {"ctid_t", "int"},
    {"datalink_id_t", "unsigned int"},
    {"thread_t", "unsigned int"},
    {"pthread_t", "unsigned long"},
    {"size32_t", "unsigned int"},
    {"ssize32_t", "int"},
    {"caddr32_t", "unsigned int"},
    {"time32_t", "int"},
    {"quad_t", "long"},
    {"u_quad_t", "unsigned long"},
    {"dtrace_id_t", "unsigned int"},
    {"dtrace_epid_t", "unsigned int"},
    {"dtrace_aggid_t", "unsigned int"},
    {"dtrace_specid_t", "unsigned int"},
    {"dtrace_cacheid_t", "unsigned int"},
    {"dtrace_aggvarid_t", "long"},
    {"dtrace_optval_t", "long"},
    {"dtrace_provider_id_t", "unsigned long"},
};

constexpr auto kStandardNames = [] {
  std::array<std::string_view, std::size(kReserved) + std::size(kCustomary) + std::size(kOfIllumos)> names;
  size_t n = 0;
  for (const StandardTypedef& t : kReserved) names[n++] = t.name;
  for (const StandardTypedef& t : kCustomary) names[n++] = t.name;
  for (const StandardTypedef& t : kOfIllumos) names[n++] = t.name;
  return names;
}();

// The name before what stands behind a declared name: "int" of "int [3]", "int (*" of "int (*)[3]".
std::string_view front(const Type& t) {
  std::string_view name = t.name;
  name.remove_suffix(t.suffix.size());
  if (name.ends_with(' ')) name.remove_suffix(1);
  return name;
}

// A sign stands apart from a word only: "int *", "int **".
std::string with_sign(std::string_view name, std::string_view sign) {
  return fmt::format("{}{}{}", name, name.ends_with('*') || name.ends_with('(') || name.empty() || sign.empty() ? "" : " ", sign);
}

void spell(Type& t, std::string_view name, std::string suffix) { t.name = with_sign(name, suffix), t.suffix = std::move(suffix); }

}  // namespace

std::span<const std::string_view> TypeTable::standard_names() { return kStandardNames; }

TypeTable::TypeTable() {
  error_.name = "<error>";
  add_basic("void", TypeClass::void_, 0, false);
  add_basic("string", TypeClass::string, 256, false);
  string_ = &types_.back();
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
  for (const StandardTypedef& t : kReserved) add_typedef(std::string(t.name), basic(t.of));
  for (const StandardTypedef& t : kCustomary) add_typedef(std::string(t.name), basic(t.of));
  for (const StandardTypedef& t : kOfIllumos) add_typedef(std::string(t.name), basic(t.of));
  for (const StandardTypedef& t : kCustomary) customary_.emplace(t.name);
  for (const StandardTypedef& t : kOfIllumos) customary_.emplace(t.name), of_illumos_.emplace(t.name);
}

void TypeTable::add_basic(std::string_view name, TypeClass cls, unsigned size, bool is_signed) {
  Type t;
  t.cls = cls, t.name = name, t.size = size, t.align = size ? std::min(size, 16u) : 1, t.is_signed = is_signed;
  t.is_char = name == "char" || name == "unsigned char", t.is_bool = name == "_Bool";
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
  t.cls = TypeClass::pointer, t.size = t.align = 8, t.target = target;
  const bool inside = target->cls == TypeClass::array || target->cls == TypeClass::function;  // int (*)[3]
  if (inside && !target->alias)
    spell(t, with_sign(front(*target), "(*"), ")" + target->suffix);
  else
    spell(t, with_sign(front(*target), "*"), target->suffix);
  return known = &make(std::move(t));
}

const Type* TypeTable::array_of(const Type* element, uint64_t count) {
  if (element == &error_) return element;
  const Type*& known = arrays_[{element, count}];
  if (known) return known;
  const Type& e = resolve(*element);
  Type t;
  spell(t, front(*element), fmt::format("[{}]{}", count, element->suffix));
  t.cls = TypeClass::array, t.size = e.size * count, t.align = e.align, t.target = element, t.count = count;
  return known = &make(std::move(t));
}

const Type* TypeTable::function(const Type* result, const std::string& parameters) {
  Type t;
  spell(t, front(*result), fmt::format("({}){}", parameters, result->suffix));
  t.cls = TypeClass::function, t.target = result;
  const Type*& known = functions_[t.name];
  return known ? known : known = &make(std::move(t));
}

// The pid, then the frames.
const Type* TypeTable::kept_stack(uint64_t frames) {
  const Type*& known = stacks_[frames];
  if (known) return known;
  Type t;
  t.cls = TypeClass::record, t.name = fmt::format("ustack({})", frames), t.is_stack = true;
  t.align = sizeof(uint64_t), t.size = sizeof(uint64_t) * (1 + frames);
  return known = &make(std::move(t));
}

const Type* TypeTable::make_alias(std::string name, const Type* type) {
  Type t = *type;
  t.fields.clear();
  t.name = std::move(name), t.suffix.clear(), t.alias = type;
  return &make(std::move(t));
}

// "const int", "char *const".
const Type* TypeTable::qualified(const Type* type, const std::string& qualifiers) {
  if (qualifiers.empty() || type == &error_) return type;
  const Type*& known = qualified_[{type, qualifiers}];
  if (known) return known;
  const bool behind = !type->alias && type->cls == TypeClass::pointer && type->suffix.empty();
  return known = make_alias(behind ? type->name + qualifiers : fmt::format("{} {}", qualifiers, type->name), type);
}

void TypeTable::add_typedef(const std::string& name, const Type* type) {
  customary_.erase(name);
  of_illumos_.erase(name);
  names_[name] = make_alias(name, type);
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

Type* TypeTable::replace_tag(std::string_view keyword, const std::string& name) {
  tags_.erase(fmt::format("{} {}", keyword, name));
  return tag(keyword, name);
}

void TypeTable::add_names(std::vector<std::string_view>& to) const {
  for (const auto& [name, type] : names_) to.push_back(name);
}

std::vector<std::string_view> TypeTable::complete_tags() const {
  std::vector<std::string_view> list;
  for (const auto& [name, type] : tags_)
    if (type->is_complete && name.find('#') == std::string::npos) list.push_back(name);
  return list;
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
  if (t.cls != TypeClass::enumeration) return t.is_bool ? basic("int") : type;
  const bool is_large =
      std::any_of(t.enumerators.begin(), t.enumerators.end(), [](const auto& e) { return e.second > INT32_MAX; });
  if (!is_large) return basic("int");
  return basic(t.size > 4 ? (t.is_signed ? "long" : "unsigned long") : "unsigned int");
}

const Type* TypeTable::common(const Type* a, const Type* b) const {
  a = promote(a), b = promote(b);
  const Type &left = resolve(*a), &right = resolve(*b);
  if (left.size != right.size) return left.size > right.size ? a : b;
  return left.is_signed && !right.is_signed ? b : a;
}

}  // namespace dvm::compiler
