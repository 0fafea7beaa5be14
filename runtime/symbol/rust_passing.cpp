// Tested by tests/runtime/scenarios/test_rust.py.

#include "runtime/symbol/rust_passing.h"

#include <dwarf.h>

#include <algorithm>

#include "runtime/symbol/dwarf_names.h"

namespace dvm::runtime {

using dif::DescribedAs;
using Kind = RustPassing::Kind;

namespace {

constexpr uint64_t kLargest = 16;           // of what is not an aggregate, unless it has an integer of 16 bytes
constexpr uint64_t kLargestPair = 32;       // of two scalars
constexpr unsigned kDeepest = 16;           // of types inside types
constexpr unsigned kMostTypes = 4096;       // that a type consists of
constexpr uint64_t kMostBytes = 64 * 1024;  // of the description of a type

uint64_t aligned(uint64_t offset, uint64_t to) { return (offset + to - 1) / to * to; }

// Where one or two scalars of a structure lie if nothing but they made up its layout.
bool is_filled_by(const std::vector<RustScalar>& scalars, uint64_t size) {
  uint64_t end = 0, alignment = 1;
  for (const RustScalar& scalar : scalars) {
    if (scalar.size == 0 || scalar.offset != aligned(end, scalar.size)) return false;
    end = scalar.end(), alignment = std::max(alignment, scalar.size);
  }
  return aligned(end, alignment) == size;
}

// Adds a member at an offset.
void add(RustPassing& whole, const RustPassing& part, uint64_t offset) {
  if (part.kind == Kind::nothing || whole.kind == Kind::unknown) return;
  const bool are_scalars = part.kind == Kind::scalars && (whole.kind == Kind::nothing || whole.kind == Kind::scalars);
  whole.kind = part.kind == Kind::unknown ? Kind::unknown : are_scalars ? Kind::scalars : Kind::aggregate;
  for (const RustScalar& one : part.scalars) whole.scalars.push_back({offset + one.offset, one.size, one.is_floating});
}

class Classes {
 public:
  explicit Classes(DieTable& table) : table_(table) {}

  RustPassing of(dif::TypeRef type, unsigned depth = 0) {
    const Dwarf_Die* die = behind_names(type, table_);
    if (die == nullptr || depth > kDeepest || left_ == 0) return has_wide_ = true, RustPassing{Kind::unknown, {}};
    left_--;
    const dif::TypeDesc desc = describe(*die, table_);
    if (desc.as == DescribedAs::array) return of_array(desc, depth);
    if (desc.size == 0) return {};
    const bool is_union = desc.as == DescribedAs::union_, is_scalar = !is_union && desc.as != DescribedAs::structure;
    has_wide_ |= desc.size == 16 && (is_union || is_scalar);
    if (is_union && desc.size <= kLargest) return {Kind::unknown, {}};
    if (is_scalar) return {Kind::scalars, {{0, desc.size, desc.as == DescribedAs::floating}}};
    if (desc.size > kLargestPair) return {Kind::aggregate, {}};
    const RustPassing found = of_structure(*die, desc.size, depth);
    if (desc.size <= kLargest) return found;
    return {has_wide_ || left_ == 0 ? Kind::unknown : Kind::aggregate, {}};
  }

 private:
  RustPassing of_array(const dif::TypeDesc& array, unsigned depth) {
    const auto is_empty = [](uint64_t count) { return count == 0; };
    if (std::any_of(array.counts.begin(), array.counts.end(), is_empty)) return {};
    return {of(array.target, depth + 1).kind == Kind::nothing ? Kind::nothing : Kind::aggregate, {}};
  }

  RustPassing of_structure(const Dwarf_Die& die, uint64_t size, unsigned depth) {
    RustPassing whole = members(die, depth);
    if (whole.kind == Kind::unknown || whole.kind == Kind::nothing) return {Kind::unknown, {}};
    std::sort(whole.scalars.begin(), whole.scalars.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
    if (whole.kind == Kind::aggregate || whole.scalars.size() > 2 || !is_filled_by(whole.scalars, size))
      return {Kind::aggregate, {}};
    const bool may_be_of_c = whole.scalars.size() == 1 && whole.scalars[0].is_floating;
    return may_be_of_c ? RustPassing{Kind::unknown, {}} : whole;
  }

  RustPassing members(const Dwarf_Die& die, unsigned depth) {
    RustPassing whole;
    for (const dif::MemberDesc& member : members_of(die, table_)) add(whole, of(member.type, depth + 1), member.offset);
    DieWalk walk(kMostBytes);
    walk.below(*const_cast<Dwarf_Die*>(&die), [&](Dwarf_Die& child) {
      if (dwarf_tag(&child) == DW_TAG_variant_part) add(whole, enumeration(child, depth), 0);
      return DieWalk::Next::over;
    });
    return whole;
  }

  // The number that tells the values of an enumeration apart, and what these have. It may lie in the place of that.
  RustPassing enumeration(const Dwarf_Die& part, unsigned depth) {
    Dwarf_Attribute attribute;
    Dwarf_Die number;
    if (dwarf_attr(const_cast<Dwarf_Die*>(&part), DW_AT_discr, &attribute) == nullptr ||
        dwarf_formref_die(&attribute, &number) == nullptr)
      return {Kind::unknown, {}};
    Dwarf_Word at = 0;
    dwarf_formudata(dwarf_attr(&number, DW_AT_data_member_location, &attribute), &at);
    const RustPassing held = values(part, depth);
    const auto is_there = [&](const RustScalar& one) { return one.offset == at; };
    if (std::any_of(held.scalars.begin(), held.scalars.end(), is_there)) return held;
    if (held.kind == Kind::aggregate || held.scalars.size() > 1) return {Kind::unknown, {}};
    RustPassing whole;
    add(whole, of(type_of(number, table_), depth + 1), at);
    add(whole, held, 0);
    return whole;
  }

  // What the values of an enumeration have, if it is the same for all that have anything.
  RustPassing values(Dwarf_Die part, unsigned depth) {
    RustPassing common;
    DieWalk walk(kMostBytes);
    walk.below(part, [&](Dwarf_Die& value) {
      if (dwarf_tag(&value) == DW_TAG_variant)
        walk.below(value, [&](Dwarf_Die& member) { return add_value(member, common, depth); });
      return DieWalk::Next::over;
    });
    return common;
  }
  DieWalk::Next add_value(const Dwarf_Die& member, RustPassing& common, unsigned depth) {
    const Dwarf_Die* value = behind_names(type_of(member, table_), table_);
    if (value == nullptr || depth > kDeepest || left_ == 0) return common = {Kind::unknown, {}}, DieWalk::Next::stop;
    left_--;
    const RustPassing found = members(*value, depth + 1);
    const bool is_another = common.kind != Kind::nothing && found.kind != Kind::nothing && !(found == common);
    if (is_another) return common = {Kind::unknown, {}}, DieWalk::Next::stop;
    if (found.kind != Kind::nothing) common = found;
    return DieWalk::Next::over;
  }

  DieTable& table_;
  unsigned left_ = kMostTypes;
  bool has_wide_ = false;  // perhaps an integer of 16 bytes
};

}  // namespace

RustPassing rust_passing(dif::TypeRef type, DieTable& table) { return Classes(table).of(type); }

}  // namespace dvm::runtime
