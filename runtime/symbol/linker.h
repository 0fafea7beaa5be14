#pragma once
// Finds the function that the dynamic linker of a process calls when it has mapped files, on which debuggers put a breakpoint,
// and the variable that has the linker's state.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/symbol/elf.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {

struct LinkerSite {
  std::string path;     // of the dynamic linker, as dvm can open it
  uint64_t offset = 0;  // of _dl_debug_state() in it
  int64_t state = 0;    // offset of r_state of _r_debug from that function
  int32_t pid = 0;
};

// Nothing: the process has no dynamic linker with such a function. Only files named like a dynamic linker are read.
std::optional<LinkerSite> find_linker(int32_t pid, const std::vector<MappedObject>& objects, ElfCache& files);

}  // namespace dvm::runtime
