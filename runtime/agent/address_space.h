#pragma once
// The mappings of a process, and gaps between them.

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
  bool is_shared = false;    // writes reach the file
  uint64_t offset = 0;       // in the file
};
// Of a line of a maps or smaps file; none if it is no mapping.
std::optional<MemoryMapping> mapping_of(std::string_view line);
// Sorted by address.
Result<std::vector<MemoryMapping>> mappings_of(pid_t pid);
// The mapping that contains an address. mappings: sorted by address. Null: none does.
const MemoryMapping* mapping_at(const std::vector<MemoryMapping>& mappings, uint64_t address);
// Why a site in a shared mapping is refused.
inline constexpr std::string_view kSharedCode =
    "its code is mapped as shared: what is written there would change the file, and other processes";

// The reach of a jump of five bytes, less a margin for the sizes of the areas at both ends.
inline constexpr uint64_t kReach = (uint64_t{1} << 31) - (uint64_t{64} << 20);

// A free range of `bytes` (a multiple of a page), the nearest one from which all of `near` is within reach of a jump. It leaves
// room for the growth of the heap and the stack.
std::optional<uint64_t> find_gap(const std::vector<MemoryMapping>& mappings, const AddressRange& near, uint64_t bytes);
// The same, anywhere: far below the libraries, or in the middle of the largest gap. The process is unlikely to use either soon.
std::optional<uint64_t> find_far_gap(const std::vector<MemoryMapping>& mappings, uint64_t bytes);

// A code mapping that dvm has added to a process, now or in an earlier run.
struct FoundAgent {
  AddressRange range;
  inside::CodeHeader header;
};
std::vector<FoundAgent> find_agents(pid_t pid, const AgentMemory& memory);

}  // namespace dvm::runtime
