#pragma once
// Room for the code of remote calls: where an earlier agent has left some, or between the end of a file's code and the end of its
// last page, which nothing executes.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "runtime/agent/memory.h"

namespace dvm::runtime {

inline constexpr uint64_t kRemoteMark = 0x6c6c61632d6d7664;  // "dvm-call": before each piece of code; then its bytes in all
inline constexpr uint64_t kRemoteEntry = 72;                 // bytes from there to the first instruction
inline constexpr uint64_t kRemoteRoom = 64 * 1024;           // in a code mapping

// An address that was not used before, at a multiple of 16.
std::optional<uint64_t> find_remote_room(pid_t pid, const AgentMemory& memory, size_t bytes);

}  // namespace dvm::runtime
