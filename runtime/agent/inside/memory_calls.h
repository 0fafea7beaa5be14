#pragma once
// Numbers and effects of the system calls in memory_calls.def, and the watches of memory_functions.def.

#include <cstdint>

#include "runtime/agent/inside/watched.h"

namespace dvm::runtime::inside {

// What a system call may do to private memory.
enum class MemoryEffect : uint8_t {
  none,
  takes,      // may take a range away that its arguments name
  takes_any,  // lets memory go later, by what is no system call
  starts,     // may start a task with the memory and the thread pointer of its thread
};

enum MemoryCallNumber : uint64_t {
#define DVM_MEMORY_CALL(name, number, effect) k##name = number,
#include "runtime/agent/inside/memory_calls.def"
};

// The kernel takes the lower half of a number, in which programs with pointers of 32 bits set a bit.
constexpr uint64_t plain_number(uint64_t number) {
  constexpr uint32_t kOf32Bits = 0x40000000;
  return static_cast<uint32_t>(number) & ~kOf32Bits;
}

// The call that the watched function makes. Nothing else is one of memory.
constexpr bool makes_memory_call(Watch watch, uint64_t& number) {
  switch (watch) {
#define DVM_MEMORY_FUNCTION(function, call, presence) \
  case Watch::function:                               \
    return number = k##call, true;
#include "runtime/agent/inside/memory_functions.def"
    default:
      return false;
  }
}

// True if the watch tells when the program takes away memory of dvm's.
constexpr bool watches_memory(Watch watch) {
  uint64_t number = 0;
  return watch == Watch::syscall || makes_memory_call(watch, number);
}

}  // namespace dvm::runtime::inside
