#pragma once
// What a tracer is about to map in a process. The process writes the plan itself, to the end of the data mapping, before it maps
// code. So a later dvm finds the code mappings of a tracer that was killed before it wrote their headers.
//
// The process may overwrite the plan. A range counts only if the process has such a mapping, and nothing was written to it.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/agent/address_space.h"
#include "runtime/agent/inside/format.h"
#include "runtime/agent/memory.h"

namespace dvm::runtime {

inline constexpr uint64_t kPlanMagic = 0x6e616c702d6d7664;  // "dvm-plan"
inline constexpr uint64_t kMostPlanned = 30;

// The name of the data mapping's file begins so; the process id of its tracer follows.
inline constexpr std::string_view kDataName = "/memfd:dvm-agent-";

struct MappingPlan {
  uint64_t magic = kPlanMagic;
  int32_t tracer = 0;
  uint32_t tracer_space = 0;  // number of its PID namespace; 0: not known
  uint64_t tracer_began = 0;  // in the kernel's ticks
  uint64_t count = 0;
  inside::MemoryRange code[kMostPlanned]{};
};
static_assert(sizeof(MappingPlan) == 512);

// The plan of this process, for these code mappings.
MappingPlan plan_of(std::span<const AddressRange> code);
constexpr uint64_t plan_bytes(uint64_t count) { return offsetof(MappingPlan, code) + count * sizeof(inside::MemoryRange); }
constexpr uint64_t plan_at(const AddressRange& data) { return data.end - sizeof(MappingPlan); }

// Mappings of a process that a tracer has made for its data, and has not written to.
struct UnwrittenMappings {
  std::vector<AddressRange> code;
  std::vector<AddressRange> around;  // the armed page and the semaphores
};
UnwrittenMappings unwritten_of(const AgentMemory& memory, const std::vector<MemoryMapping>& mappings, uint64_t data,
                               const MappingPlan& plan);

// All memory that killed tracers have left without a header. A data mapping comes after the mappings that its plan names. ended:
// a tracer that lives, and that has taken its agent off the process; 0: none.
std::vector<AddressRange> orphaned_ranges(pid_t pid, const AgentMemory& memory, pid_t ended = 0);

}  // namespace dvm::runtime
