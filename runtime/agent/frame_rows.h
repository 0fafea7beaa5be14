#pragma once
// Makes unwind information for stubs, in the form of DWARF's .eh_frame. A signal handler may walk the callers of a stub that it
// has interrupted, or throw an exception through it.
//
// To an unwinder, a stub is a function that was called by the probed function, at the instruction for which the stub runs. Its
// frame is marked as that of a signal, so that the unwinder assumes that this instruction is not executed yet.
//
// Unwinders distinguish frames by their canonical frame address. Because a stub often has the stack pointer of the probed
// function, its address is one above that stack pointer.

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/agent/inside/format.h"

namespace dvm::runtime {

// The layout of the stack from an offset of a stub on.
struct FrameRow {
  uint32_t at = 0;
  uint32_t depth = 0;    // bytes from the stack pointer up to that of the probed function
  uint32_t kept = 0;     // bit n: word n of struct pt_regs is saved, at the stack pointer
  uint64_t counter = 0;  // program counter in the probed function
};
inline constexpr uint32_t kMostRowBytes = 64;  // of a row, in an FDE

// The CIE of all stubs, and the FDE of one, which will be stored at the address `at`.
std::vector<unsigned char> frame_cie();
// The CIE of functions that do not change their stack pointer. Their FDEs have no rows.
std::vector<unsigned char> plain_cie();
std::vector<unsigned char> frame_fde(uint64_t at, uint64_t cie, uint64_t stub, uint64_t bytes, std::span<const FrameRow> rows);

// The entries for the code of fire.cpp. code: the code with its .eh_frame section, which lies at offsets begin to end. Addresses
// of the entries are relative to `base`.
std::vector<inside::FrameEntry> frame_entries(std::span<const std::byte> code, uint64_t begin, uint64_t end, uint64_t base);

}  // namespace dvm::runtime
