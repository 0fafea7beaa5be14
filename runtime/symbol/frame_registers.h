#pragma once
// Registers in call frame information, by DWARF's numbers for x86-64.

namespace dvm::runtime {

inline constexpr unsigned kFrameRegisters = 17;
inline constexpr unsigned kFramePointer = 6, kStackPointer = 7, kReturnAddress = 16;

}  // namespace dvm::runtime
