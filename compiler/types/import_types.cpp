// Described types to D's. Tests: tests/golden/sema (tst.target_types.d), tests/runtime/types.
#include "compiler/types/import_types.h"

#include <fmt/format.h>

#include <algorithm>

namespace dvm::compiler {

using dif::DescribedAs;

namespace {

constexpr uint64_t kLargest = uint64_t{1} << 40;
constexpr size_t kMostFields = 65536;
constexpr size_t kMostVirtualBases = 256;

DescribedAs described_as(std::string_view keyword) {
  return keyword == "struct"  ? DescribedAs::structure
         : keyword == "union" ? DescribedAs::union_
         : keyword == "enum"  ? DescribedAs::enumeration
                              : DescribedAs::alias;
}

std::string_view keyword_of(DescribedAs as) {
  return as == DescribedAs::union_ ? "union" : as == DescribedAs::enumeration ? "enum" : "struct";
}

void add_virtual_base(Type& record, const VirtualBase& base) {
  std::vector<VirtualBase>& bases = record.virtual_bases;
  const auto is_same_base = [&](const VirtualBase& known) { return known.type == base.type; };
  if (bases.size() < kMostVirtualBases && std::none_of(bases.begin(), bases.end(), is_same_base)) bases.push_back(base);
}

bool has_tag(DescribedAs as) {
  return as == DescribedAs::structure || as == DescribedAs::union_ || as == DescribedAs::enumeration;
}

// C has typedefs of these names.
bool is_character_of_cplusplus(std::string_view name) {
  return name == "wchar_t" || name == "char8_t" || name == "char16_t" || name == "char32_t";
}

}  // namespace

Result<const Type*> TypeImporter::find(const std::string& module, std::string_view keyword, const std::string& name) {
  if (!catalog_) return Error{"there is no traced program to search (name one with -p PID or -c COMMAND)"};
  const auto [place, is_new] = found_.try_emplace({module, std::string(keyword), name}, Error{});
  if (is_new) place->second = catalog_->find_type(module, described_as(keyword), name);
  if (!place->second) return place->second.error();
  return import(*place->second);
}

const Type* TypeImporter::import(dif::TypeRef type) {
  if (type == 0 || !catalog_) return types_.basic("void");
  const auto [place, is_new] = imported_.try_emplace(type, types_.basic("void"));  // void ends what refers to itself
  if (is_new) place->second = make(catalog_->describe(type), type);
  return place->second;
}

const Type* TypeImporter::make(const dif::TypeDesc& desc, dif::TypeRef type) {
  switch (desc.as) {
    case DescribedAs::void_:
      return types_.basic("void");
    case DescribedAs::integer:
      return make_integer(desc);
    case DescribedAs::floating:
      return types_.basic(desc.size == 4 ? "float" : desc.size == 8 ? "double" : "long double");
    case DescribedAs::pointer:
      return types_.pointer_to(import(desc.target));
    case DescribedAs::array:
      return make_array(desc);
    case DescribedAs::structure:
    case DescribedAs::union_:
    case DescribedAs::enumeration:
      return make_named(desc, type);
    case DescribedAs::function:
      return types_.function(import(desc.target), "");
    case DescribedAs::alias:
      return make_alias(desc);
    case DescribedAs::qualified:
      return import(desc.target);
    case DescribedAs::unknown:
      break;
  }
  return make_bytes(desc);
}

const Type* TypeImporter::make_integer(const dif::TypeDesc& desc) {
  if (desc.is_char) return types_.basic(desc.is_signed ? "char" : "unsigned char");
  if (desc.name == "_Bool" || desc.name == "bool") return types_.basic("_Bool");
  const bool is_long_long = desc.name.find("long long") != std::string::npos;
  const char* name = desc.size == 1   ? "char"
                     : desc.size == 2 ? "short"
                     : desc.size == 4 ? "int"
                     : is_long_long   ? "long long"
                                      : "long";
  const Type* type = types_.basic(desc.is_signed ? name : fmt::format("unsigned {}", name));
  return is_character_of_cplusplus(desc.name) ? types_.make_alias(desc.name, type) : type;
}

const Type* TypeImporter::make_named(const dif::TypeDesc& desc, dif::TypeRef type) {
  const Type*& known = known_[Identity(desc.as, desc.name, desc.size, desc.line, desc.is_complete)];
  if (known && !desc.name.empty()) return known;
  Type t;
  t.name = fmt::format("{} {}", keyword_of(desc.as), desc.name.empty() ? "(anon)" : desc.name);
  t.cls = desc.as == DescribedAs::enumeration ? TypeClass::enumeration : TypeClass::record;
  t.size = desc.size, t.is_signed = desc.is_signed, t.is_complete = desc.is_complete, t.is_union = desc.as == DescribedAs::union_;
  const bool is_scalar =
      t.cls == TypeClass::enumeration && (desc.size == 1 || desc.size == 2 || desc.size == 4 || desc.size == 8);
  if (t.cls == TypeClass::enumeration && !is_scalar) t.size = 4;
  t.align = is_scalar ? t.size : 1;
  if (t.cls == TypeClass::record) t.source = this;
  Type& made = types_.make(std::move(t));
  records_[&made] = {&made, type};
  return known = &made;
}

const Type* TypeImporter::make_alias(const dif::TypeDesc& desc) { return types_.make_alias(desc.name, import(desc.target)); }

const Type* TypeImporter::make_array(const dif::TypeDesc& desc) {
  const Type* type = import(desc.target);
  for (size_t i = desc.counts.size(); i-- > 0;) {
    const uint64_t size = resolve(*type).size;
    type = types_.array_of(type, size != 0 && desc.counts[i] > kLargest / size ? 0 : desc.counts[i]);
  }
  return type;
}

// What D has no type for: so many bytes.
const Type* TypeImporter::make_bytes(const dif::TypeDesc& desc) {
  return desc.size == 0 || desc.size > kLargest ? types_.basic("void")
                                                : types_.array_of(types_.basic("unsigned char"), desc.size);
}

bool TypeImporter::define(const Type* type) {
  const Type& t = resolve(*type);
  if (t.is_complete) return true;
  const auto place = records_.find(&t);
  if (place == records_.end() || !catalog_) return false;
  auto& [record, described] = place->second;
  const dif::TypeDesc declared = catalog_->describe(described);
  const auto found = has_tag(declared.as) ? catalog_->find_type("", declared.as, declared.name) : Result<dif::TypeRef>(Error{});
  const dif::TypeDesc desc = found ? catalog_->describe(*found) : declared;
  if (!desc.is_complete) return false;
  record->size = desc.size, record->is_signed = desc.is_signed, record->is_complete = true;
  described = *found;
  return true;
}

// Members that have a name come before those of anonymous members and bases, which they hide.
void TypeImporter::add_members(const Type& type) {
  const auto place = records_.find(&type);
  if (place == records_.end() || !type.source || !type.is_complete) return;
  auto& [record, described] = place->second;
  record->source = nullptr;
  if (catalog_->describe(described).has_variants)
    record->fields.push_back({"variant", types_.array_of(types_.basic("unsigned char"), record->size)});
  const std::vector<dif::MemberDesc> members = catalog_->members(described);
  for (const dif::MemberDesc& m : members)
    if (!m.name.empty()) record->fields.push_back({m.name, import(m.type), m.offset, m.bits, m.shift, m.storage});
  for (const dif::MemberDesc& m : members)
    if (m.is_virtual)
      add_virtual_base(*record, {import(m.type), 0, m.offset});
    else if (m.name.empty())
      add_inner(*record, m);
}

std::vector<std::pair<std::string, int64_t>> TypeImporter::enumerators(const Type* enumeration) const {
  std::vector<std::pair<std::string, int64_t>> names;
  const auto place = records_.find(enumeration);
  if (place == records_.end() || !catalog_) return names;
  for (const dif::EnumeratorDesc& e : catalog_->enumerators(place->second.second)) names.emplace_back(e.name, e.value);
  return names;
}

void TypeImporter::add_inner(Type& record, const dif::MemberDesc& member) {
  const Type& inner = resolve(*import(member.type));
  if (&inner == &record) return;  // damaged
  inner.find("");                 // brings its members in
  for (const VirtualBase& base : inner.virtual_bases)
    add_virtual_base(record, {base.type, member.offset + base.offset, base.slot});
  for (const Field& field : inner.fields) {
    if (record.fields.size() >= kMostFields) return;
    record.fields.push_back(field);
    record.fields.back().offset += member.offset;
  }
}

}  // namespace dvm::compiler
