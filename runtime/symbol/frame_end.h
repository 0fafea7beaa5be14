#pragma once
// The end of a frame of code without unwind information, where the function returns right behind a call. The trampolines of
// `python3 -X perf` are such code, and keep no frame pointer:
//
//   sub $8, %rsp;  call *%rcx;  add $8, %rsp;  ret

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "runtime/symbol/frame_registers.h"

namespace dvm::runtime {

struct FrameEnd {
  static constexpr size_t kMostBytes = 32;  // of code

  uint64_t size = 0;                              // bytes from the stack pointer to the return address
  std::array<int64_t, kFrameRegisters> popped{};  // where a register that is popped lies above the stack pointer
  uint32_t pops = 0;                              // bit n: register n is popped
};

// Nothing: the code does more than to free a frame and to return.
std::optional<FrameEnd> decode_frame_end(std::span<const uint8_t> code);

}  // namespace dvm::runtime
