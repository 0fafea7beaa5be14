#pragma once
// Room for the code of remote calls: between the end of a file's code, or of the vDSO, and the end of its last page, which
// nothing executes.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/agent/memory.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {

inline constexpr uint64_t kRemoteMark = 0x6c6c61632d6d7664;  // "dvm-call": before each piece of code; then its bytes in all
inline constexpr uint64_t kRemoteEntry = 72;                 // bytes from there to the first instruction

// An address behind all code in that room, at a multiple of 16.
std::optional<uint64_t> find_remote_room(pid_t pid, const AgentMemory& memory, size_t bytes);
// Code in that room: of calls that are being made, or that a killed dvm has begun.
std::vector<AddressRange> remote_pieces(pid_t pid, const AgentMemory& memory);
// Restores the bytes that such code has replaced. All threads are stopped, and none executes it. False: some code stays.
bool restore_remote_rooms(pid_t pid, const AgentMemory& memory);

}  // namespace dvm::runtime
