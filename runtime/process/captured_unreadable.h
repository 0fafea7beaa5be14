#pragma once
// Memory of the process that could not be read at the firing, by any means. A later read must not show what is there by then.
// Each such address is a piece of captured data without bytes (vm::CapturedMemory::is_file). Probe context.

#include <algorithm>
#include <cstdint>
#include <span>

#include "dvm/vm/host.h"

namespace dvm::runtime {

inline constexpr uint64_t kUnreadableAt = uint64_t{1} << 63;  // added to the address: no other captured data has so large a one

inline bool is_unreadable(const vm::CapturedMemory& one) noexcept { return one.is_file && one.address >= kUnreadableAt; }

// True if some of these bytes could not be read. A page can be read as a whole, or not at all.
inline bool has_unreadable(std::span<const vm::CapturedMemory> memory, uint64_t address, uint64_t size) noexcept {
  constexpr uint64_t kPage = 4096;
  return std::any_of(memory.begin(), memory.end(), [&](const vm::CapturedMemory& one) {
    const uint64_t page = (one.address - kUnreadableAt) / kPage * kPage;
    return is_unreadable(one) && (address - page < kPage || page - address < size);
  });
}

// True if bytes from this address on were captured, and what follows them could not be read. `size` is more than these.
inline bool ends_unreadable(std::span<const vm::CapturedMemory> memory, uint64_t address, uint64_t size) noexcept {
  return std::any_of(memory.begin(), memory.end(), [&](const vm::CapturedMemory& one) {
    const bool is_captured = !one.is_file && address - one.address < one.bytes.size();
    return is_captured && one.address + one.bytes.size() - address < size &&
           has_unreadable(memory, one.address + one.bytes.size(), 1);
  });
}

}  // namespace dvm::runtime
