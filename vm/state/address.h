#pragma once
// Addresses of D memory (the regions of memory_access.h) as DIF sees them. A register holds the pointer with the bits above a
// process's address space set, like an address of the kernel under DTrace. So D memory and the traced process cannot be mistaken
// for each other, wherever dvm lies:
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
