#pragma once
// What a process has mapped, and where there is room for more.

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"
#include "runtime/agent/inside/format.h"
#include "runtime/agent/memory.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {

struct MemoryMapping {
  AddressRange range;
  bool is_executable = false;
  std::string path;
  bool is_constant = false;  // readable, and not writable
  bool is_writable = false;  // and readable
  bool is_shared = false;    // what is written there reaches the file
};
// By address.
Result<std::vector<MemoryMapping>> mappings_of(pid_t pid);
// The one, of mappings by address, that an address lies in; null: none.
const MemoryMapping* mapping_at(const std::vector<MemoryMapping>& mappings, uint64_t address);
// Why nothing is put into code of a mapping that is shared.
inline constexpr std::string_view kSharedCode =
    "its code is mapped as shared: what is written there would change the file, and other processes";

// The furthest that a jump of five bytes reaches, less what lies at both ends.
inline constexpr uint64_t kReach = (uint64_t{1} << 31) - (uint64_t{64} << 20);

// Room of so many bytes (a multiple of a page), the nearest from which all of `near` is within reach. The heap and the stack can
// still grow.
std::optional<uint64_t> find_gap(const std::vector<MemoryMapping>& mappings, const AddressRange& near, uint64_t bytes);
// The same, anywhere: in the middle of the largest gap, where the process will map nothing soon.
std::optional<uint64_t> find_far_gap(const std::vector<MemoryMapping>& mappings, uint64_t bytes);

// A code mapping that dvm has added to a process, now or in an earlier run.
struct FoundAgent {
  AddressRange range;
  inside::CodeHeader header;
};
std::vector<FoundAgent> find_agents(pid_t pid, const AgentMemory& memory);

}  // namespace dvm::runtime
