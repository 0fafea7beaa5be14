#pragma once
// Distinguishes addresses of the kernel from others. Probe context.

#include <cstdint>

namespace dvm {

// Stands for the kernel in place of a process id beside an address.
inline constexpr int32_t kKernelPid = 0;

// Restores the top bit of an address of the kernel, which arguments in D lack. Other addresses are not changed.
constexpr uint64_t with_top_bit(uint64_t address) {
  constexpr uint64_t kTop = uint64_t{1} << 63, kKernelBits = uint64_t{0xffff} << 47;
  return ((address | kTop) & kKernelBits) == kKernelBits ? address | kTop : address;
}

}  // namespace dvm
