#pragma once
// Where an argument of a probe lies in the traced thread when the probe fires.
//
//   constant   value
//   saved      the register that word `base` of struct pt_regs is
//   memory     the bytes at base + index * scale + value; base and index are words of struct pt_regs, or none
//   counter    the program counter that a timer interrupted: value 0: the kernel's, 1: the process's; the other one is 0
//
// Of a register or of memory `size` bytes count (1, 2, 4 or 8), `shift` bits up in a register (8 for %ah), widened by its sign or
// by zeros.

#include <array>
#include <cstddef>
#include <cstdint>

namespace dvm::runtime {

inline constexpr uint8_t kNoWord = 0xff;

// Words of struct pt_regs that arguments are made of; dvm/dif/registers.def has all of them.
namespace saved {
inline constexpr uint8_t rbp = 4, r9 = 8, r8 = 9, rax = 10, rcx = 11, rdx = 12, rsi = 13, rdi = 14, rip = 16, rsp = 19;
}  // namespace saved

struct Operand {
  enum class Kind : uint8_t { none, constant, saved, memory, counter };

  Kind kind = Kind::none;
  uint8_t base = kNoWord;
  uint8_t index = kNoWord;
  uint8_t scale = 1;  // 1, 2, 4 or 8
  uint8_t size = 8;
  uint8_t shift = 0;
  bool is_signed = false;
  int64_t value = 0;

  static Operand constant(int64_t value) { return {.kind = Kind::constant, .value = value}; }
  static Operand of_register(uint8_t word) { return {.kind = Kind::saved, .base = word}; }
  static Operand memory(uint8_t base, int64_t displacement) {
    return {.kind = Kind::memory, .base = base, .value = displacement};
  }
  static Operand counter(int64_t whose) { return {.kind = Kind::counter, .value = whose}; }

  friend bool operator==(const Operand&, const Operand&) = default;
};

// Of arg0 to arg9.
inline constexpr size_t kArguments = 10;
using Operands = std::array<Operand, kArguments>;

}  // namespace dvm::runtime
