// Tested by tests/unit/instrument/lasting_memory_test.cpp.

#include "runtime/agent/lasting_memory.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "runtime/symbol/needed.h"

namespace dvm::runtime {
namespace {

constexpr size_t kMostRanges = 64;

bool is_of(const MemoryMapping& mapping, const MappedObject& object) {
  return mapping.is_constant && mapping.path == object.path;
}

// The memory around the object's code without a gap. The program may have mapped the same file elsewhere, and unmap that.
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

// The kernel maps nothing else so near to its end, where it grows down to.
inside::MemoryRange stack_of(const std::vector<MemoryMapping>& mappings) {
  constexpr uint64_t kNear = 8 << 20;
  for (const MemoryMapping& one : mappings)
    if (one.path == "[stack]") return {std::min(one.range.begin, one.range.end - kNear), one.range.end};
  return {};
}

}  // namespace

std::vector<std::byte> LastingRanges::bytes() const {
  const inside::LastingMemory head{stack, ranges.size()};
  std::vector<std::byte> made(sizeof head + ranges.size() * sizeof(inside::MemoryRange));
  std::memcpy(made.data(), &head, sizeof head);
  if (!ranges.empty()) std::memcpy(made.data() + sizeof head, ranges.data(), made.size() - sizeof head);
  return made;
}

LastingRanges lasting_memory(pid_t pid, const std::vector<MemoryMapping>& mappings) {
  LastingRanges lasting{stack_of(mappings), {}};
  const auto objects = mapped_objects(pid);
  if (!objects) return lasting;
  for (const MappedObject& object : needed_objects(*objects)) {
    const inside::MemoryRange range = range_of(mappings, object);
    if (range.begin != range.end && lasting.ranges.size() < kMostRanges) lasting.ranges.push_back(range);
  }
  return lasting;
}

}  // namespace dvm::runtime
