#pragma once
// The arithmetic of DIF on constants, made from vm/dif/arithmetic.def.

#include <cstdint>
#include <optional>

#include "dvm/dif/opcode.h"

namespace dvm::dif {

constexpr uint64_t signed_quotient(uint64_t a, uint64_t b) {
  if (b == ~uint64_t{0}) return 0 - a;  // also the most negative by -1, which traps in hardware
  return static_cast<uint64_t>(static_cast<int64_t>(a) / static_cast<int64_t>(b));
}
constexpr uint64_t signed_remainder(uint64_t a, uint64_t b) {
  return b == ~uint64_t{0} ? 0 : static_cast<uint64_t>(static_cast<int64_t>(a) % static_cast<int64_t>(b));
}

constexpr uint64_t signed_shift(uint64_t a, uint64_t count) { return static_cast<uint64_t>(static_cast<int64_t>(a) >> count); }

// The two numbers that the condition codes compare before an instruction sets them.
struct Compared {
  uint64_t left, right;
};
inline constexpr Compared kNoComparison{1, 0};

// The result of an arithmetic opcode. Nothing if it would fault, or if the opcode is not arithmetic.
constexpr std::optional<uint64_t> arithmetic(Opcode op, uint64_t a, uint64_t b) {
  switch (op) {
#define DVM_ARITHMETIC(name, expression) \
  case Opcode::name:                     \
    return expression;
#define DVM_DIVISION(name, expression) \
  case Opcode::name:                   \
    if (b == 0) return std::nullopt;   \
    return expression;
#include "vm/dif/arithmetic.def"
    default:
      return std::nullopt;
  }
}

}  // namespace dvm::dif
