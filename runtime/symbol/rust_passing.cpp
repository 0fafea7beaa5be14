// Tested by tests/runtime/scenarios/test_rust.py.

#include "runtime/symbol/rust_passing.h"

#include <algorithm>

namespace dvm::runtime {

using dif::DescribedAs;
using Kind = RustPassing::Kind;

namespace {

constexpr unsigned kDeepest = 16;  // of types inside types

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

RustPassing of_structure(const Dwarf_Die& die, uint64_t size, DieTable& table, unsigned depth) {
  RustPassing whole;
  for (const dif::MemberDesc& member : members_of(die, table)) {
    const RustPassing part = rust_passing(member.type, table, depth + 1);
    if (part.kind == Kind::nothing) continue;
    if (part.kind == Kind::unknown) return part;
    const bool is_first = whole.kind == Kind::nothing;
    whole.kind = part.kind == Kind::scalars && (is_first || whole.kind == Kind::scalars) ? Kind::scalars : Kind::aggregate;
    for (const RustScalar& one : part.scalars) whole.scalars.push_back({member.offset + one.offset, one.size, one.is_floating});
  }
  if (whole.kind == Kind::nothing) return {size == 0 ? Kind::nothing : Kind::unknown, {}};
  std::sort(whole.scalars.begin(), whole.scalars.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  if (whole.kind == Kind::aggregate || whole.scalars.size() > 2 || !is_filled_by(whole.scalars, size))
    return {Kind::aggregate, {}};
  const bool may_be_of_c = whole.scalars.size() == 1 && whole.scalars[0].is_floating;
  return may_be_of_c ? RustPassing{Kind::unknown, {}} : whole;
}

}  // namespace

RustPassing rust_passing(dif::TypeRef type, DieTable& table, unsigned depth) {
  const Dwarf_Die* die = behind_names(type, table);
  if (die == nullptr || depth > kDeepest) return {Kind::unknown, {}};
  const dif::TypeDesc desc = describe(*die, table);
  const auto is_empty = [](uint64_t count) { return count == 0; };
  switch (desc.as) {
    case DescribedAs::structure:
      return of_structure(*die, desc.size, table, depth);
    case DescribedAs::union_:
      return {desc.size == 0 ? Kind::nothing : Kind::unknown, {}};
    case DescribedAs::array:
      if (std::any_of(desc.counts.begin(), desc.counts.end(), is_empty)) return {};
      return {rust_passing(desc.target, table, depth + 1).kind == Kind::nothing ? Kind::nothing : Kind::aggregate, {}};
    default:
      return desc.size == 0 ? RustPassing{} : RustPassing{Kind::scalars, {{0, desc.size, desc.as == DescribedAs::floating}}};
  }
}

}  // namespace dvm::runtime
