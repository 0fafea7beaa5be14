#pragma once
// The registers of uregs[], made from vm/dif/registers.def.

#include <cstdint>
#include <optional>

namespace dvm::dif {

inline constexpr unsigned kSavedRegisters = 21;  // words of struct pt_regs

// One above the largest number that uregs[] takes.
inline constexpr unsigned kRegisterNumbers = [] {
  unsigned end = 0;
#define DVM_REGISTER(number, name, word) end = end > number ? end : number + 1;
#include "vm/dif/registers.def"
  return end;
}();

// The word of struct pt_regs that uregs[number] reads. Nothing if probes do not capture the register.
constexpr std::optional<unsigned> saved_register(uint64_t number) {
  constexpr int none = -1;
  int saved = none;
  switch (number) {
#define DVM_REGISTER(number, name, word) \
  case number:                           \
    saved = word;                        \
    break;
#include "vm/dif/registers.def"
    default:
      break;
  }
  return saved == none ? std::nullopt : std::optional(static_cast<unsigned>(saved));
}

}  // namespace dvm::dif
