#pragma once
// Calls machine code with registers and flags that are given, to see what it makes of them.

#include <array>
#include <cstdint>
#include <random>

namespace dvm::runtime {

// In the order of struct pt_regs.
struct Registers {
  std::array<uint64_t, 15> words{};
  uint64_t flags = 0x202;
  uint64_t below = 16 * (16 + 136) / 2;  // the sum of numbers that are put in the 128 bytes below the stack pointer

  bool operator==(const Registers&) const = default;
};

// All registers and flags by chance.
inline Registers some_registers(std::mt19937_64& random) {
  Registers made;
  for (uint64_t& word : made.words) word = random();
  constexpr uint64_t kFlags = 0x1 | 0x4 | 0x10 | 0x40 | 0x80 | 0x400 | 0x800 | 0x40000;  // CF PF AF ZF SF DF OF AC
  made.flags |= random() & kFlags;
  return made;
}

// words: of Registers, which are loaded, and stored again after the call.
extern "C" void load_and_call(const void* code, uint64_t* words);

}  // namespace dvm::runtime
