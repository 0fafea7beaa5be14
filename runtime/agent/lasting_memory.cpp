// Tested by tests/unit/instrument/lasting_memory_test.cpp.

#include "runtime/agent/lasting_memory.h"

#include <algorithm>
#include <cstddef>

#include "runtime/symbol/needed.h"

namespace dvm::runtime {
namespace {

constexpr size_t kMostRanges = 64;

bool is_of(const MemoryMapping& mapping, const MappedObject& object) {
  return mapping.is_constant && mapping.path == object.path;
}

// What lies around the object's code without a gap. The program may have mapped the same file elsewhere, and unmap that.
inside::MemoryRange range_of(const std::vector<MemoryMapping>& mappings, const MappedObject& object) {
  const auto code = std::find_if(mappings.begin(), mappings.end(), [&](const MemoryMapping& one) {
    return is_of(one, object) && one.range.begin <= object.address && object.address < one.range.end;
  });
  if (code == mappings.end()) return {};
  auto first = code, last = code;
  while (first != mappings.begin() && is_of(first[-1], object) && first[-1].range.end == first->range.begin) first--;
  while (last + 1 != mappings.end() && is_of(last[1], object) && last[1].range.begin == last->range.end) last++;
  return {first->range.begin, last->range.end};
}

}  // namespace

std::vector<inside::MemoryRange> lasting_memory(pid_t pid, const std::vector<MemoryMapping>& mappings) {
  std::vector<inside::MemoryRange> ranges;
  const auto objects = mapped_objects(pid);
  if (!objects) return ranges;
  for (const MappedObject& object : needed_objects(*objects)) {
    const inside::MemoryRange range = range_of(mappings, object);
    if (range.begin != range.end && ranges.size() < kMostRanges) ranges.push_back(range);
  }
  return ranges;
}

}  // namespace dvm::runtime
