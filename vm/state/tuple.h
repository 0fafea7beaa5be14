#pragma once
// The tuple stack: keys of an associative array or arguments of a subroutine. The verifier has proved that it neither overflows
// nor underflows, and that a subroutine finds its arguments.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "dvm/dif/instruction.h"

namespace dvm::vm {

struct TupleEntry {
  uint64_t value = 0;  // the value, or the address of a string or of bytes
  uint64_t size = 0;   // of a string, without its NUL, or of bytes; 0 for a value
  dif::PushType type = dif::PushType::value;
  const std::byte* bytes = nullptr;  // the checked pointer to `size` bytes; null for a value
};

struct Tuple {
  std::array<TupleEntry, dif::kTupleDepth> entries;
  uint32_t depth = 0;

  void push(const TupleEntry& entry) noexcept { entries[depth++] = entry; }
  std::span<const TupleEntry> view() const noexcept { return {entries.data(), depth}; }
};

}  // namespace dvm::vm
