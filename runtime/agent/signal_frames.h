#pragma once
// Checks whether a thread of a stopped process executes code in some ranges, or will when a signal handler returns.
//
// The kernel saves the registers of an interrupted thread in a signal frame on the stack that the handler runs on. All frames
// between the stack pointer and the end of each stack are examined, and the stacks that they lead back to. The frame of a
// handler that has left its stack by swapcontext() is not found.

#include <span>

#include "runtime/agent/memory.h"
#include "runtime/agent/stopped_process.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {

// True if more threads than `but` execute that code, or if that cannot be determined.
bool may_execute(const StoppedProcess& process, const AgentMemory& memory, std::span<const AddressRange> code, size_t but = 0);

}  // namespace dvm::runtime
