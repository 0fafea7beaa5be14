#pragma once
// Addresses of D memory (the regions of memory_access.h) in DIF. A register holds the pointer with the bits above the address
// space of a process set, like an address of the kernel under DTrace. So an address of D memory cannot be mistaken for one of the
// traced process, wherever dvm is loaded:
//
//   0 ......................... 0x00007fff'ffffffff | 0xffff8000'00000000 ...... 0xffffffff'ffffffff
//   the traced process                              | D memory
//
// A load from an address of the process reads it as copyin() would; a store there, or a copyin() from D memory, is a fault.

#include <cstdint>

namespace dvm::vm {

inline constexpr uint64_t kDMemory = 0xffff'8000'0000'0000;

inline uint64_t address_of(const void* at) noexcept { return at ? reinterpret_cast<uint64_t>(at) | kDMemory : 0; }
constexpr bool is_d_memory(uint64_t address) noexcept { return address >= kDMemory; }

}  // namespace dvm::vm
