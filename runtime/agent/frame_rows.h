#pragma once
// Unwind information of stubs, as DWARF's .eh_frame has it. A signal handler may look for the callers of a stub that it has
// interrupted, or throw through it.
//
// Code of a stub looks like a frame of its own, called by the probed function at the instruction that the stub runs for. That
// frame is marked as that of a signal, so that the instruction is taken for one that has not been executed yet.
//
// Unwinders tell frames apart by their canonical frame address. That of a stub is one above the stack pointer of the probed
// function, since a stub often has the same stack pointer.
//
// Tested by tests/unit/instrument/frame_rows_test.cpp.

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/agent/inside/format.h"

namespace dvm::runtime {

// From an offset of a stub on.
struct FrameRow {
  uint32_t at = 0;
  uint32_t depth = 0;    // bytes from the stack pointer up to that of the probed function
  uint32_t kept = 0;     // words of struct pt_regs that lie at the stack pointer, a bit each
  uint64_t counter = 0;  // in the probed function
};
inline constexpr uint32_t kMostRowBytes = 64;  // of a row, in an FDE

// The CIE of all stubs, and the FDE of one, which will lie at the address `at`.
std::vector<unsigned char> frame_cie();
// The CIE of functions that do not change their stack pointer. Their FDEs have no rows.
std::vector<unsigned char> plain_cie();
std::vector<unsigned char> frame_fde(uint64_t at, uint64_t cie, uint64_t stub, uint64_t bytes, std::span<const FrameRow> rows);

// Code from `begin` on, relative to `base`, as fire.cpp has it in the .eh_frame section that lies `frames` behind `code`.
std::vector<inside::FrameEntry> frame_entries(std::span<const std::byte> code, uint64_t begin, uint64_t end, uint64_t base);

}  // namespace dvm::runtime
