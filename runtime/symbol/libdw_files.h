#pragma once
// The files that libdw opens on its own: those of -gsplit-dwarf (.dwo) and the one that dwz makes for several
// (.gnu_debugaltlink). The traced program's file names them, so they are opened as RegularFile opens files: libdw calls an open()
// of this program in place of the C library's.

#include <libelf.h>

#include <cstdint>
#include <string>

#include "dvm/common/result.h"

namespace dvm::runtime {

// Checks that all debug sections of a file, unpacked, are within check_cost() and check_memory(). Reads the packed ones.
Status check_debug_sections(Elf* elf, uint64_t bytes_on_disk);

// "PATH: reason" for the last file that exists and that libdw could not open, in this thread and since the last call; empty:
// none.
std::string take_refused_to_libdw();

}  // namespace dvm::runtime
