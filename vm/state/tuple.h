#pragma once
// The tuple stack: keys of an associative array or arguments of a subroutine, pushed one after another. The verifier has
// proved that it neither overflows nor underflows and that a subroutine finds its arguments.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dvm/dif/instruction.h"

namespace dvm::vm {

struct TupleEntry {
  uint64_t value = 0;  // the value, or the address of what was pushed by reference
  uint64_t size = 0;   // of what was pushed by reference, a string's without its NUL; 0 for a value
  dif::PushType type = dif::PushType::value;
  const std::byte* bytes = nullptr;  // as many as size says, where they are; null for a value
};

struct Tuple {
  std::array<TupleEntry, dif::kTupleDepth> entries;
  uint32_t depth = 0;

  void push(const TupleEntry& entry) noexcept { entries[depth++] = entry; }
  std::span<const TupleEntry> view() const noexcept { return {entries.data(), depth}; }
};

}  // namespace dvm::vm
