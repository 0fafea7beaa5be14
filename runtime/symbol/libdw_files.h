#pragma once
// The files that libdw opens on its own: those of -gsplit-dwarf (.dwo) and the one that dwz makes for several
// (.gnu_debugaltlink). Their names stand in the traced program's file, so they are opened as regular_file.h opens files, by an
// open() of this program that libdw calls in place of the C library's.

#include <libelf.h>

#include <cstdint>
#include <string>

#include "common/result.h"

namespace dvm::runtime {

// Whether all debug sections of a file, unpacked, are within what check_cost() and check_memory() allow. Reads the packed ones.
Status check_debug_sections(Elf* elf, uint64_t bytes_on_disk);

// "PATH: reason" of the last file that libdw has wanted in this thread since this was asked, and did not get although it is
// there; empty: none.
std::string take_refused_to_libdw();

}  // namespace dvm::runtime
