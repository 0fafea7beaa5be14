#pragma once
// Frames of the tracer itself at the top of a kernel stack. A stack that is taken at a tracepoint begins with the BPF program and
// the functions that call it; the function that the tracepoint lies in comes after them:
//
//   bpf_prog_... | bpf_trace_run2 | __bpf_trace_sys_enter | syscall_trace_enter | do_syscall_64 | ...
//                                                           └─ the first frame that a script sees

#include <cstdint>
#include <span>
#include <vector>

#include "dvm/common/result.h"
#include "runtime/symbol/kernel_symbols.h"

namespace dvm::runtime {

inline constexpr uint32_t kMostTracerFrames = 8;

class TracerFrames {
 public:
  // Fails if the kernel hides its symbols: then it cannot recognise the frames. Consumer context.
  Status learn(const KernelSymbols& symbols);
  // The frames behind those of the tracer. Probe context.
  std::span<const uint64_t> without(std::span<const uint64_t> stack) const noexcept;

 private:
  bool has(uint64_t address) const noexcept;

  std::vector<AddressRange> functions_;  // by address
};

}  // namespace dvm::runtime
