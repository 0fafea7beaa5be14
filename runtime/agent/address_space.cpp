// Tested by tests/unit/instrument/address_space_test.cpp.

#include "runtime/agent/address_space.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kLowest = 0x10000;          // below, the kernel maps nothing
constexpr uint64_t kHighest = 0x7ffffffff000;  // of a process
constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kFar = uint64_t{32} << 30;  // what a process hardly maps at once

bool is_reached(const AddressRange& near, uint64_t at, uint64_t bytes) {
  const uint64_t lowest = std::min(near.begin, at), highest = std::max(near.end, at + bytes);
  return highest - lowest < kReach;
}

uint64_t distance(const AddressRange& near, uint64_t at) { return at > near.begin ? at - near.begin : near.begin - at; }

}  // namespace

std::optional<MemoryMapping> mapping_of(std::string_view line) {
  MapsLine parsed;
  MemoryMapping mapping;
  if (!parse_maps_line(line, parsed) || !parsed.addresses(mapping.range)) return std::nullopt;
  mapping.is_executable = parsed.executable;
  mapping.is_constant = parsed.is_constant;
  mapping.is_writable = line.compare(line.find(' ') + 1, 2, "rw") == 0;
  mapping.is_shared = parsed.is_shared;
  mapping.path = std::move(parsed.path);
  mapping.offset = parsed.offset;
  return mapping;
}

Result<std::vector<MemoryMapping>> mappings_of(pid_t pid) {
  std::ifstream maps(memory_folder(pid) + "/maps");
  if (!maps) return Error{std::strerror(errno == ENOENT ? ESRCH : errno)};
  std::vector<MemoryMapping> found;
  for (std::string line; std::getline(maps, line);)
    if (auto mapping = mapping_of(line)) found.push_back(*std::move(mapping));
  return found;
}

const MemoryMapping* mapping_at(const std::vector<MemoryMapping>& mappings, uint64_t address) {
  const auto after = std::upper_bound(mappings.begin(), mappings.end(), address,
                                      [](uint64_t a, const MemoryMapping& one) { return a < one.range.begin; });
  if (after == mappings.begin() || std::prev(after)->range.end <= address) return nullptr;
  return &*std::prev(after);
}

// The nearest gap; of that the upper end, or as far up as a jump reaches, since the heap grows from below. Not below a stack,
// which grows downward.
std::optional<uint64_t> find_gap(const std::vector<MemoryMapping>& mappings, const AddressRange& near, uint64_t bytes) {
  std::optional<uint64_t> best;
  uint64_t begin = kLowest;
  const uint64_t reached = (near.begin + kReach) & ~(kPageBytes - 1);
  for (const MemoryMapping& above : mappings) {
    const uint64_t end = std::min({above.range.begin, kHighest, reached});
    const bool is_stack = above.path.starts_with("[stack");
    if (!is_stack && end > begin && end - begin >= bytes + 2 * kPageBytes) {
      const uint64_t at = end - bytes - kPageBytes;
      if (is_reached(near, at, bytes) && (!best || distance(near, at) < distance(near, *best))) best = at;
    }
    begin = std::max(begin, above.range.end);
  }
  return best;
}

// Where the kernel puts what the process maps without an address, as deep as that may grow soon. Sanitizers end a program that
// has memory elsewhere.
std::optional<uint64_t> find_far_gap(const std::vector<MemoryMapping>& mappings, uint64_t bytes) {
  AddressRange largest{}, highest{};
  uint64_t begin = kLowest;
  for (const MemoryMapping& above : mappings) {
    const uint64_t end = std::min(above.range.begin, kHighest);
    const uint64_t size = end > begin ? end - begin : 0;
    if (size > largest.end - largest.begin) largest = {begin, end};
    if (size >= bytes + 2 * kFar && !above.path.starts_with("[stack")) highest = {begin, end};
    begin = std::max(begin, above.range.end);
  }
  if (highest.end != 0) return (highest.end - kFar - bytes) & ~(kPageBytes - 1);
  const uint64_t size = largest.end - largest.begin;
  if (size < bytes + 4 * kPageBytes) return std::nullopt;
  return (largest.begin + (size - bytes) / 2) & ~(kPageBytes - 1);
}

std::vector<FoundAgent> find_agents(pid_t pid, const AgentMemory& memory) {
  std::vector<FoundAgent> found;
  const auto mappings = mappings_of(pid);
  if (!mappings) return found;
  for (const MemoryMapping& one : *mappings) {
    FoundAgent agent{one.range, {}};
    if (!one.is_executable || !one.path.empty()) continue;
    if (memory.read_object(one.range.begin, agent.header) && agent.header.magic == inside::kCodeMagic) found.push_back(agent);
  }
  return found;
}

}  // namespace dvm::runtime
