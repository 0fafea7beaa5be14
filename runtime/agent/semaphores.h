#pragma once
// The semaphores of markers: 16-bit counts in the traced process. The program computes the arguments of a marker only if its
// semaphore is not 0. Each site with a semaphore raises it by one.
//
// A thread of the process executes the changes (semaphore_code.h). So other threads and tracers may change the semaphore
// meanwhile, and a dvm that is killed at any moment leaves a table (inside::Semaphores) that says what was done. From this table
// dvm, its guard and `dvm detach` lower what was raised, once.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"
#include "runtime/agent/address_space.h"
#include "runtime/agent/agent_site.h"
#include "runtime/agent/memory.h"
#include "runtime/agent/patches.h"
#include "runtime/agent/stopped_process.h"

namespace dvm::runtime {

// Why no semaphore may be at an address of the process; empty: one may.
std::string_view semaphore_refusal(const std::vector<MemoryMapping>& mappings, uint64_t address);

struct JumpedSite {
  AgentSite* site;
  const SitePatch* patch;
};

// All threads must be stopped for these. table: the address of an inside::Semaphores.
//
// Refuses sites whose semaphores may not be raised: the program has run since they were planned.
void refuse_unraisable(const StoppedProcess& process, std::span<AgentSite* const> sites);
// Leaves refused sites out. The jumps of the others are in the code. Refuses those of which a semaphore cannot be raised; the
// caller lowers what was raised for them, and takes their jumps off.
void raise_semaphores(StoppedProcess& process, const AgentMemory& memory, uint64_t table, std::span<const JumpedSite> sites);
// Lowers what was raised, or only for these jumps, which are sorted. Call it before the jumps are removed. Fails if a thread of
// the process is in the middle of a change.
Status lower_semaphores(StoppedProcess& process, const AgentMemory& memory, uint64_t table, std::span<const uint64_t> jumps = {});

}  // namespace dvm::runtime
