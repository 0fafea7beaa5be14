#pragma once
// Files that libdw itself opens: those of -gsplit-dwarf (.dwo) and the shared file of dwz (.gnu_debugaltlink). The traced
// program's file has their names, so they are untrusted and opened as RegularFile does: libdw calls dvm's own open() instead of
// that of the C library.

#include <libelf.h>

#include <cstdint>
#include <string>

#include "dvm/common/result.h"

namespace dvm::runtime {

// Checks the total uncompressed size of all debug sections by check_cost() and check_memory(). Decompresses compressed sections.
Status check_debug_sections(Elf* elf, uint64_t bytes_on_disk);

// "PATH: reason" for the last file that exists and that libdw could not open, in this thread and since the last call; empty:
// none.
std::string take_refused_to_libdw();

}  // namespace dvm::runtime
