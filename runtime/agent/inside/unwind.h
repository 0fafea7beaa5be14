#pragma once
// Unwind information of the agent's code, where the unwinder of the process asks for it: before _Unwind_Find_FDE() of libgcc.

#include "runtime/agent/inside/format.h"

namespace dvm::runtime::inside {

// The structure that _Unwind_Find_FDE() fills in (struct dwarf_eh_bases).
struct FrameBases {
  uint64_t text, data, function;
};

// The address of the FDE; 0: there is none.
[[gnu::always_inline]] inline uint64_t find_frame(const CodeHeader& header, uint64_t counter, FrameBases& bases) {
  const auto begin = reinterpret_cast<uint64_t>(&header);
  const auto at = static_cast<uint32_t>(counter - begin);
  const auto& table = *reinterpret_cast<const FrameTable*>(header.frames);
  const auto* entries = reinterpret_cast<const FrameEntry*>(&table + 1);
  uint64_t low = 0, high = table.count;
  while (low < high) {
    const uint64_t middle = (low + high) / 2;
    if (at >= entries[middle].end)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == table.count || at < entries[low].begin) return 0;
  bases.text = bases.data = 0;
  bases.function = begin + entries[low].begin;
  return begin + entries[low].fde;
}

[[gnu::always_inline]] inline uint64_t find_frame(const OwnMemory& own, uint64_t counter, FrameBases& bases) {
  for (uint64_t i = 0; i < own.count && i < kMostOwn; i++) {
    const MemoryRange& range = own.ranges[i];
    if (counter < range.begin || counter >= range.end) continue;
    const auto& header = *reinterpret_cast<const CodeHeader*>(range.begin);
    return header.magic == kCodeMagic && header.frames != 0 ? find_frame(header, counter, bases) : 0;
  }
  return 0;
}

}  // namespace dvm::runtime::inside
