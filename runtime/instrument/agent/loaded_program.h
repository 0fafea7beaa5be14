#pragma once
// Programs that a dynamic linker runs as its argument, as in "ld-linux-x86-64.so.2 ./looper".
// Tested by tests/runtime/scenarios/test_wrappers.py.

#include <sys/types.h>

#include <cstdint>
#include <optional>

namespace dvm::runtime {

// The file that the process executes is a dynamic linker.
bool runs_linker(pid_t pid);
// The entry point of the first other file that the process has mapped, which is the program; nothing: there is none yet.
std::optional<uint64_t> loaded_entry(pid_t pid);

}  // namespace dvm::runtime
