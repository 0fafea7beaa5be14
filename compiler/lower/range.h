#pragma once
// The range of the values that a register can have, as signed integers. It follows from types and from arithmetic. A value whose
// range fits a type needs no sign or zero extension to it.

#include <cstdint>
#include <limits>
#include <optional>

#include "compiler/lower/operators.h"
#include "compiler/types/symbols.h"
#include "compiler/types/type.h"
#include "dvm/dif/opcode.h"

namespace dvm::compiler {

struct ValueRange {
  int64_t low = std::numeric_limits<int64_t>::min(), high = std::numeric_limits<int64_t>::max();

  bool is_within(const ValueRange& outer) const { return outer.low <= low && high <= outer.high; }
  bool is_positive() const { return low >= 0; }  // or 0
  bool is_constant() const { return low == high; }

  static ValueRange constant(uint64_t value) { return {static_cast<int64_t>(value), static_cast<int64_t>(value)}; }
  static ValueRange of_bits(unsigned bits, bool is_signed);  // of so many low bits
};

ValueRange of_type(const Type* type);
ValueRange of_variable(const Symbol& variable);
// The range of a value loaded from memory.
ValueRange of_load(dif::Opcode op);
// The range of the result of an arithmetic opcode; the full range for other opcodes.
ValueRange of_operation(dif::Opcode op, const ValueRange& left, const ValueRange& right);
// The smallest range that contains both.
ValueRange join(const ValueRange& a, const ValueRange& b);

// Replaces a comparison of a 32-bit sum by one without wrapping. For each 32-bit v, `asked` compares v + addend, wrapped to 32
// bits, with `constant` as it compares v + `added`, in 64 bits, with `against`.
struct Unwrapped {
  uint64_t added = 0, against = 0;
};
std::optional<Unwrapped> unwrap(Operation asked, uint64_t addend, uint64_t constant, bool is_signed);

}  // namespace dvm::compiler
