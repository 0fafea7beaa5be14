#pragma once
// Finds all places in the code of a process from which a system call may take private memory away: unmap, move or protect it.
// If each of them is known, and agents watch it, then memory that was seen mapped stays mapped until one of them is entered.
//
//   libc.so.6: munmap     begin:  mov $11, %eax      an agent's jump lies here
//                                 syscall
//                         behind: ...                and here
//
// That is proven from the files that the process executes, and from the pages of them that it has changed. It is not proven if
// some code is no file or can be changed, or makes system calls of which the number is not known. Code that the process maps, or
// makes executable, later has to be looked at before it runs. Consumer context.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/agent/address_space.h"
#include "runtime/agent/inside/memory_calls.h"
#include "runtime/code/module_code.h"

namespace dvm::runtime {

using inside::MemoryEffect;
MemoryEffect memory_effect(uint32_t number);

struct MemoryCaller {
  std::string path;                  // opens the file; MappedObject::open_path
  uint64_t begin = 0;                // offset in the file of the instruction that loads the number
  uint64_t behind = 0;               // that of the instruction behind the system call
  std::optional<uint32_t> number{};  // nothing: the C library's syscall(); `begin` is its first instruction
};

struct MemoryCallers {
  std::vector<MemoryCaller> all;
  std::string unproven;  // why memory may go unseen; empty: it cannot
};

// mappings: of the process, now. own: what dvm has mapped there, which is left out.
MemoryCallers find_memory_callers(pid_t pid, const std::vector<MemoryMapping>& mappings, ModuleCodes& files,
                                  std::span<const AddressRange> own);

}  // namespace dvm::runtime
