// DWARF's types as D's. Covered by tests/unit/instrument/dwarf_test.cpp and tests/fuzz/dwarf_fuzz.cpp.

#include "runtime/symbol/dwarf_describe.h"

#include <dwarf.h>

#include <algorithm>
#include <optional>

#include "runtime/symbol/dwarf_names.h"

namespace dvm::runtime {

using dif::DescribedAs;

namespace {

constexpr size_t kMostMembers = 65536;
constexpr uint64_t kMostBytes = uint64_t{1} << 40;  // of one type: larger ones are damaged

// libdw's functions take what they do not change by a pointer to what they could.
Dwarf_Die* mutable_die(const Dwarf_Die& die) { return const_cast<Dwarf_Die*>(&die); }

std::optional<uint64_t> number(const Dwarf_Die& die, unsigned name) {
  Dwarf_Attribute attribute;
  Dwarf_Word value = 0;
  if (dwarf_attr_integrate(mutable_die(die), name, &attribute) == nullptr) return std::nullopt;
  if (dwarf_formudata(&attribute, &value) != 0) return std::nullopt;
  return value;
}

std::string name_of(const Dwarf_Die& die) { return std::string(text_of(die, DW_AT_name)); }

DescribedAs kind_of(int tag) {
  switch (tag) {
    case DW_TAG_base_type:
      return DescribedAs::integer;
    case DW_TAG_pointer_type:
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
      return DescribedAs::pointer;
    case DW_TAG_array_type:
      return DescribedAs::array;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
      return DescribedAs::structure;
    case DW_TAG_union_type:
      return DescribedAs::union_;
    case DW_TAG_enumeration_type:
      return DescribedAs::enumeration;
    case DW_TAG_subroutine_type:
      return DescribedAs::function;
    case DW_TAG_typedef:
    case DW_TAG_template_alias:
      return DescribedAs::alias;
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
      return DescribedAs::qualified;
    case DW_TAG_unspecified_type:  // decltype(nullptr) and the like
      return DescribedAs::void_;
    default:
      return DescribedAs::unknown;
  }
}

void describe_base(const Dwarf_Die& die, dif::TypeDesc& desc) {
  switch (number(die, DW_AT_encoding).value_or(0)) {
    case DW_ATE_float:
      desc.as = DescribedAs::floating;
      break;
    case DW_ATE_complex_float:
    case DW_ATE_imaginary_float:
    case DW_ATE_decimal_float:
      desc.as = DescribedAs::unknown;
      break;
    case DW_ATE_signed_char:
    case DW_ATE_unsigned_char:
      desc.is_char = desc.size == 1;
      break;
    default:
      break;
  }
  const uint64_t encoding = number(die, DW_AT_encoding).value_or(0);
  desc.is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
  if (desc.as == DescribedAs::integer && desc.size > 8) desc.as = DescribedAs::unknown;  // __int128
}

// The sizes of an array's dimensions from the outside in; 0: unknown.
std::vector<uint64_t> dimensions(const Dwarf_Die& die) {
  std::vector<uint64_t> counts;
  DieWalk walk(64);
  walk.below(*mutable_die(die), [&](Dwarf_Die& child) {
    if (dwarf_tag(&child) != DW_TAG_subrange_type) return DieWalk::Next::over;
    if (const auto count = number(child, DW_AT_count))
      counts.push_back(*count);
    else if (const auto last = number(child, DW_AT_upper_bound))
      counts.push_back(*last == UINT64_MAX || *last > kMostBytes ? 0 : *last + 1);
    else
      counts.push_back(0);
    return DieWalk::Next::over;
  });
  return counts;
}

// Which way an enumeration's constants are read.
bool is_signed_enumeration(const Dwarf_Die& die) {
  Dwarf_Attribute attribute;
  Dwarf_Die underlying;
  if (dwarf_attr_integrate(mutable_die(die), DW_AT_type, &attribute) != nullptr &&
      dwarf_formref_die(&attribute, &underlying) != nullptr) {
    dwarf_peel_type(&underlying, &underlying);  // a typedef, as in enum : int8_t
    const auto encoding = number(underlying, DW_AT_encoding);
    return encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
  }
  // DWARF 2 has no underlying type. Compilers take an unsigned one unless a constant is negative.
  const std::vector<dif::EnumeratorDesc> constants = enumerators_of(die);
  return std::any_of(constants.begin(), constants.end(), [](const auto& constant) { return constant.value < 0; });
}

// // A bit-field lies in the smallest naturally aligned word that holds it, or else in as many bytes as it takes.
bool place_bits(uint64_t at, unsigned bits, dif::MemberDesc& member) {
  for (unsigned size : {1U, 2U, 4U, 8U}) {
    if (at / (size * 8) != (at + bits - 1) / (size * 8)) continue;
    member.offset = at / (size * 8) * size, member.shift = static_cast<unsigned>(at % (size * 8)), member.storage = size;
    return true;
  }
  member.offset = at / 8, member.shift = static_cast<unsigned>(at % 8), member.storage = 8;
  return member.shift + bits <= 64;
}

// In bytes: a number, in a union 0 by not being there, or, as DWARF 2 wrote it, an expression that adds a number.
std::optional<uint64_t> member_offset(const Dwarf_Die& die) {
  if (const auto offset = number(die, DW_AT_data_member_location)) return offset;
  Dwarf_Attribute attribute;
  if (dwarf_attr(mutable_die(die), DW_AT_data_member_location, &attribute) == nullptr) return 0;
  Dwarf_Op* operations = nullptr;
  size_t count = 0;
  if (dwarf_getlocation(&attribute, &operations, &count) != 0 || count != 1) return std::nullopt;
  return operations[0].atom == DW_OP_plus_uconst ? std::optional(operations[0].number) : std::nullopt;
}

std::optional<uint64_t> unsigned_constant(const Dwarf_Op& operation) {
  if (operation.atom >= DW_OP_lit0 && operation.atom <= DW_OP_lit31) return operation.atom - DW_OP_lit0;
  const bool is_constant = operation.atom == DW_OP_const1u || operation.atom == DW_OP_const2u || operation.atom == DW_OP_constu;
  return is_constant ? std::optional(operation.number) : std::nullopt;
}

// How far before the address at the beginning of an object the offset of the virtual base lies. 0: not known. The ABI of C++
// keeps these offsets before the functions of the class.
uint64_t virtual_slot(const Dwarf_Die& die) {
  constexpr int kConstant = -1, kPattern[] = {DW_OP_dup, DW_OP_deref, kConstant, DW_OP_minus, DW_OP_deref, DW_OP_plus};
  Dwarf_Attribute attribute;
  Dwarf_Op* operations = nullptr;
  size_t count = 0;
  if (dwarf_attr(mutable_die(die), DW_AT_data_member_location, &attribute) == nullptr) return 0;
  if (dwarf_getlocation(&attribute, &operations, &count) != 0 || count != std::size(kPattern)) return 0;
  for (size_t i = 0; i < count; i++)
    if (kPattern[i] != kConstant && operations[i].atom != kPattern[i]) return 0;
  return unsigned_constant(operations[2]).value_or(0);
}

// From the first bit of the structure, little-endian.
std::optional<uint64_t> first_bit(const Dwarf_Die& die, unsigned bits) {
  if (const auto at = number(die, DW_AT_data_bit_offset)) return at;
  const auto offset = member_offset(die);
  const auto from_top = number(die, DW_AT_bit_offset);  // DWARF 2 and 3 count from the most significant bit of the storage
  const auto storage = number(die, DW_AT_byte_size);
  if (!offset || *offset >= kMostBytes || !from_top || !storage || *storage > 8) return std::nullopt;
  if (*from_top > 64 || *from_top + bits > *storage * 8) return std::nullopt;
  return *offset * 8 + *storage * 8 - *from_top - bits;
}

bool place(const Dwarf_Die& die, dif::MemberDesc& member) {
  if (const auto bits = number(die, DW_AT_bit_size)) {
    member.bits = static_cast<unsigned>(std::min<uint64_t>(*bits, 65));
    const auto at = first_bit(die, member.bits);
    return member.bits >= 1 && member.bits <= 64 && at && *at < kMostBytes && place_bits(*at, member.bits, member);
  }
  const auto offset = member_offset(die);
  member.offset = offset.value_or(0);
  return offset && *offset < kMostBytes;
}

bool is_part(Dwarf_Die& die) {
  if (dwarf_tag(&die) == DW_TAG_member)
    return dwarf_hasattr(&die, DW_AT_external) == 0 && dwarf_hasattr(&die, DW_AT_const_value) == 0;
  return dwarf_tag(&die) == DW_TAG_inheritance;
}

bool has_variants(const Dwarf_Die& die) {
  bool found = false;
  DieWalk walk(kMostMembers);
  walk.below(*mutable_die(die), [&](Dwarf_Die& child) {
    found |= dwarf_tag(&child) == DW_TAG_variant_part;
    return found ? DieWalk::Next::stop : DieWalk::Next::over;
  });
  return found;
}

}  // namespace

dif::TypeRef DieTable::add(const Dwarf_Die& die) {
  const auto [place, is_new] = known_.try_emplace(die.addr, dies_.size() + 1);
  if (is_new) dies_.push_back(die);
  return place->second;
}

dif::TypeRef type_of(const Dwarf_Die& die, DieTable& table) {
  Dwarf_Attribute attribute;
  Dwarf_Die type;
  if (dwarf_attr_integrate(mutable_die(die), DW_AT_type, &attribute) == nullptr) return 0;
  if (dwarf_formref_die(&attribute, &type) == nullptr) return 0;
  Dwarf_Die in_type_unit;  // by -fdebug-types-section
  const bool is_elsewhere =
      dwarf_attr(&type, DW_AT_signature, &attribute) != nullptr && dwarf_formref_die(&attribute, &in_type_unit) != nullptr;
  return table.add(is_elsewhere ? in_type_unit : type);
}

dif::TypeDesc describe(const Dwarf_Die& die, DieTable& table) {
  dif::TypeDesc desc;
  desc.as = kind_of(dwarf_tag(mutable_die(die)));
  desc.name = name_of(die);
  desc.size = number(die, DW_AT_byte_size).value_or(0);
  if (desc.size > kMostBytes) desc.as = DescribedAs::unknown;
  desc.line = number(die, DW_AT_decl_line).value_or(0);
  desc.is_complete = dwarf_hasattr(mutable_die(die), DW_AT_declaration) == 0;
  desc.target = type_of(die, table);
  if (desc.as == DescribedAs::integer) describe_base(die, desc);
  if (desc.as == DescribedAs::enumeration) desc.is_signed = is_signed_enumeration(die);
  if (desc.as == DescribedAs::structure) desc.has_variants = has_variants(die);
  if (desc.as == DescribedAs::pointer) desc.size = 8;
  if (desc.as == DescribedAs::array) desc.counts = dimensions(die);
  return desc;
}

const Dwarf_Die* behind_names(dif::TypeRef type, DieTable& table) {
  for (unsigned depth = 0; depth < 64; depth++) {
    const Dwarf_Die* die = table.find(type);
    if (die == nullptr) return nullptr;
    const dif::TypeDesc desc = describe(*die, table);
    if (desc.as != DescribedAs::alias && desc.as != DescribedAs::qualified) return die;
    type = desc.target;
  }
  return nullptr;
}

std::vector<dif::MemberDesc> members_of(const Dwarf_Die& die, DieTable& table) {
  std::vector<dif::MemberDesc> members;
  DieWalk walk(kMostMembers);
  walk.below(*mutable_die(die), [&](Dwarf_Die& child) {
    if (!is_part(child)) return DieWalk::Next::over;
    dif::MemberDesc member;
    member.name = name_of(child);
    member.type = type_of(child, table);
    member.is_base = dwarf_tag(&child) == DW_TAG_inheritance;
    member.is_virtual = member.is_base && number(child, DW_AT_virtuality).value_or(0) != 0;
    if (member.is_virtual) member.offset = virtual_slot(child);
    if (member.is_virtual || place(child, member)) members.push_back(std::move(member));
    return DieWalk::Next::over;
  });
  return members;
}

namespace {

bool append_member(Dwarf_Die& die, const std::string& name, DieTable& table, std::vector<dif::MemberDesc>& members) {
  dif::MemberDesc member;
  member.name = name;
  member.type = type_of(die, table);
  if (name.empty() || !place(die, member)) return false;
  members.push_back(std::move(member));
  return true;
}

void append_variants(Dwarf_Die& part, DieTable& table, std::vector<dif::MemberDesc>& members) {
  Dwarf_Attribute attribute;
  Dwarf_Die number;
  if (dwarf_attr(&part, DW_AT_discr, &attribute) != nullptr && dwarf_formref_die(&attribute, &number) != nullptr)
    append_member(number, "discriminant", table, members);
  DieWalk walk(kMostMembers);
  walk.below(part, [&](Dwarf_Die& variant) {
    if (dwarf_tag(&variant) == DW_TAG_variant)
      walk.below(variant, [&](Dwarf_Die& member) {
        if (dwarf_tag(&member) == DW_TAG_member) append_member(member, name_of(member), table, members);
        return DieWalk::Next::over;
      });
    return DieWalk::Next::over;
  });
}

}  // namespace

std::vector<dif::MemberDesc> variants_of(const Dwarf_Die& die, DieTable& table) {
  std::vector<dif::MemberDesc> members;
  DieWalk walk(kMostMembers);
  walk.below(*mutable_die(die), [&](Dwarf_Die& child) {
    if (dwarf_tag(&child) == DW_TAG_variant_part) append_variants(child, table, members);
    return DieWalk::Next::over;
  });
  return members;
}

// The fixed-size forms carry no sign: compilers use them for what is not negative.
int64_t enumerator_value(const Dwarf_Die& enumerator) {
  Dwarf_Attribute attribute;
  Dwarf_Sword with_sign = 0;
  Dwarf_Word without = 0;
  if (dwarf_attr(mutable_die(enumerator), DW_AT_const_value, &attribute) == nullptr) return 0;
  const unsigned form = dwarf_whatform(&attribute);
  if (form == DW_FORM_data1 || form == DW_FORM_data2 || form == DW_FORM_data4)
    return dwarf_formudata(&attribute, &without) == 0 ? static_cast<int64_t>(without) : 0;
  return dwarf_formsdata(&attribute, &with_sign) == 0 ? with_sign : 0;
}

std::vector<dif::EnumeratorDesc> enumerators_of(const Dwarf_Die& die) {
  std::vector<dif::EnumeratorDesc> list;
  DieWalk walk(kMostMembers);
  walk.below(*mutable_die(die), [&](Dwarf_Die& child) {
    if (dwarf_tag(&child) == DW_TAG_enumerator) list.push_back({name_of(child), enumerator_value(child)});
    return DieWalk::Next::over;
  });
  return list;
}

}  // namespace dvm::runtime
