#pragma once
// Finds the place where the dynamic linker of a process reports that it has mapped files: the function on which debuggers put a
// breakpoint, and the state that the linker has then.

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
  int64_t state = 0;    // how far behind that function r_state of _r_debug lies
  int32_t pid = 0;
};

// None: the process has no dynamic linker that debuggers know. Only files that are called like one are read.
std::optional<LinkerSite> find_linker(int32_t pid, const std::vector<MappedObject>& objects, ElfCache& files);

}  // namespace dvm::runtime
