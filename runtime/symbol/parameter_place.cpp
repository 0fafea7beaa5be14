// Reads locations of parameters. Covered by tests/unit/instrument/dwarf_test.cpp and tests/fuzz/dwarf_fuzz.cpp.

#include "runtime/symbol/parameter_place.h"

#include <dwarf.h>

#include <optional>
#include <span>

#include "runtime/symbol/dwarf_names.h"

namespace dvm::runtime {
namespace {

using Kind = ParameterPlace::Kind;
using Operations = std::span<Dwarf_Op>;

constexpr unsigned kFramePointer = 6, kStackPointer = 7;

Dwarf_Die* mutable_die(const Dwarf_Die& die) { return const_cast<Dwarf_Die*>(&die); }

std::optional<unsigned> plain_register(const Dwarf_Op& operation) {
  if (operation.atom >= DW_OP_reg0 && operation.atom <= DW_OP_reg31) return operation.atom - DW_OP_reg0;
  return std::nullopt;
}

// A register as it was at the entry: where that lies within another operation.
std::optional<unsigned> entry_register(Dwarf_Attribute& location, const Dwarf_Op& operation) {
  if (operation.atom != DW_OP_entry_value && operation.atom != DW_OP_GNU_entry_value) return std::nullopt;
  Dwarf_Attribute inner;
  Dwarf_Op* operations = nullptr;
  size_t count = 0;
  if (dwarf_getlocation_attr(&location, &operation, &inner) != 0) return std::nullopt;
  if (dwarf_getlocation(&inner, &operations, &count) != 0 || count != 1) return std::nullopt;
  return plain_register(operations[0]);
}

// A register of which the low bits are the value, as LLVM writes it for bool: so do those who read the value by its type.
std::optional<unsigned> narrowed_register(Operations operations) {
  const Dwarf_Op& first = operations.front();
  if (first.atom < DW_OP_breg0 || first.atom > DW_OP_breg31 || first.number != 0) return std::nullopt;
  if (operations.back().atom != DW_OP_stack_value) return std::nullopt;
  for (const Dwarf_Op& one : operations.subspan(1, operations.size() - 2))
    if (one.atom != DW_OP_constu && one.atom != DW_OP_and && one.atom != DW_OP_convert) return std::nullopt;
  return first.atom - DW_OP_breg0;
}

std::optional<unsigned> register_of(Dwarf_Attribute& location, Operations operations) {
  if (operations.empty()) return std::nullopt;
  if (operations.size() == 1) return plain_register(operations[0]);
  if (const auto reg = narrowed_register(operations)) return reg;
  const bool is_value = operations.size() == 2 && operations[1].atom == DW_OP_stack_value;
  return is_value ? entry_register(location, operations[0]) : std::nullopt;
}

bool is_in_frame(const Dwarf_Op& operation) {
  return operation.atom == DW_OP_fbreg || operation.atom == DW_OP_breg0 + kFramePointer ||
         operation.atom == DW_OP_breg0 + kStackPointer;
}

ParameterPlace of_kind(Kind kind) {
  ParameterPlace place;
  place.kind = kind;
  return place;
}

ParameterPlace of_kind(Kind kind, unsigned reg) {
  ParameterPlace place = of_kind(kind);
  place.parts.push_back({0, 0, reg});
  return place;
}

ParameterPlace unsaid(Operations operations) {
  ParameterPlace place;
  place.is_through_pointer = operations.size() == 2 && operations[1].atom == DW_OP_deref;
  return place;
}

ParameterPlace in_parts(Dwarf_Attribute& location, Operations operations) {
  ParameterPlace place;
  place.kind = Kind::in_parts;
  uint64_t offset = 0;
  size_t begin = 0;
  for (size_t i = 0; i < operations.size(); i++) {
    if (operations[i].atom != DW_OP_piece) continue;
    if (const auto reg = register_of(location, operations.subspan(begin, i - begin)))
      place.parts.push_back({offset, operations[i].number, *reg});
    else if (i > begin && is_in_frame(operations[begin]))
      return {};
    offset += operations[i].number;
    begin = i + 1;
  }
  if (place.parts.empty()) place.kind = Kind::nowhere;
  return place;
}

ParameterPlace read(Dwarf_Attribute& location, Operations operations) {
  if (operations.empty()) return of_kind(Kind::nowhere);
  if (operations.back().atom == DW_OP_piece) return in_parts(location, operations);
  if (const auto reg = register_of(location, operations)) return of_kind(Kind::in_register, *reg);
  const Dwarf_Op& first = operations[0];
  if (is_in_frame(first)) return unsaid(operations);
  if (operations.size() > 1) return of_kind(Kind::computed);
  const bool is_at = first.atom >= DW_OP_breg0 && first.atom <= DW_OP_breg31 && first.number == 0;
  if (is_at) return of_kind(Kind::at_register, first.atom - DW_OP_breg0);
  return of_kind(Kind::computed);
}

ParameterPlace at_entry(ParameterPlace place, size_t operations) {
  place.is_value_in_frame = place.kind == Kind::unsaid && operations == 1;
  return place;
}

constexpr size_t kMostRanges = 4096;  // of one location list

// By the operations that hold at an address. A range that is empty holds where it begins, before the instruction there. A place
// in the frame may be listed from where the frame is set up.
ParameterPlace read_at(Dwarf_Attribute& location, Dwarf_Addr address) {
  Dwarf_Addr base = 0, begin = 0, end = 0;
  Dwarf_Op* operations = nullptr;
  size_t count = 0;
  ptrdiff_t next = 0;
  std::optional<ParameterPlace> first;
  for (size_t i = 0; i < kMostRanges; i++) {
    next = dwarf_getlocations(&location, next, &base, &begin, &end, &operations, &count);
    if (next < 0) return {};
    if (next == 0) break;
    if (begin <= address && (address < end || address == begin))
      return at_entry(read(location, Operations(operations, count)), count);
    if (!first) first = read(location, Operations(operations, count));
  }
  return first && first->kind == Kind::unsaid ? *first : of_kind(Kind::nowhere);
}

}  // namespace

std::optional<Dwarf_Addr> entry_of(const Dwarf_Die& function) {
  Dwarf_Addr entry = 0, base = 0, end = 0;
  if (dwarf_entrypc(mutable_die(function), &entry) == 0) return entry;
  if (dwarf_ranges(mutable_die(function), 0, &base, &entry, &end) > 0) return entry;
  return std::nullopt;
}

std::vector<Dwarf_Die> parameters_with_code(Dwarf_Die function) {
  constexpr size_t kMost = 1024;
  std::vector<Dwarf_Die> list;
  DieWalk walk(kMost);
  walk.below(function, [&](Dwarf_Die& child) {
    if (dwarf_tag(&child) == DW_TAG_formal_parameter) list.push_back(child);
    return DieWalk::Next::over;
  });
  return list;
}

ParameterPlace place_at_entry(const Dwarf_Die& function, const Dwarf_Die& parameter) {
  Dwarf_Attribute location;
  const std::optional<Dwarf_Addr> entry = entry_of(function);
  if (!entry) return {};
  if (dwarf_attr(mutable_die(parameter), DW_AT_location, &location) == nullptr) return of_kind(Kind::nowhere);
  return read_at(location, *entry);
}

}  // namespace dvm::runtime
