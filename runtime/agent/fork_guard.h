#pragma once
// Processes that outlive dvm, and clean up if it is killed. Each has its own session, so that signals to dvm's process group do
// not reach it.

#include <sys/types.h>

#include <cstdint>
#include <functional>

#include "common/file_descriptor.h"
#include "dvm/common/result.h"

namespace dvm::runtime {

// Why a process has no guard.
Error no_guard(pid_t pid, int problem);

// Starts a guard. It does its work, for which it gets one end of a connection, and ends. It closes all files of dvm except that
// end and `kept`. Returns dvm's end.
Result<FileDescriptor> fork_guard(pid_t pid, int kept, const std::function<void(int)>& work);

// Starts a guard that writes a word into the memory of the process once dvm's end is closed, also because dvm is killed.
Result<FileDescriptor> write_at_end(pid_t pid, uint64_t address, uint32_t word);

}  // namespace dvm::runtime
