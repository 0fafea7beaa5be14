#pragma once
// Scratch: memory for the DIF of one firing, allocated from the front of a fixed block and freed as a whole. The block is twice
// as large as the limit of a clause, so that allocations of earlier clauses usually stay valid for the rest of the firing. Probe
// context: only the constructor allocates.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dvm/vm/state.h"

namespace dvm::vm {

class Scratch {
 public:
  Scratch(size_t size, size_t most_requested, MachineHead& head)
      : block_((size + 7) / 8 * 2),
        used_(head.scratch_used),
        end_(head.scratch_end),
        most_requested_(most_requested),
        requested_(head.scratch_requested) {
    head.scratch_size = block_.size() * 8;
    head.scratch_room = head.scratch_end = head.scratch_size / 2;
  }

  // Allocates memory, 8-aligned. Null: there is not enough.
  std::byte* allocate(uint64_t size) noexcept {
    if (size > left()) return nullptr;
    std::byte* at = base() + used_;
    used_ += (size + 7) & ~uint64_t{7};
    return at;
  }
  // Counts bytes that the script requests by alloca() or copyin(), which have a limit of their own. False: they exceed it.
  bool request(uint64_t size) noexcept {
    if (size > most_requested_ - requested_) return false;
    requested_ += std::min((size + 7) & ~uint64_t{7}, most_requested_ - requested_);
    return true;
  }
  // Frees the unused end of the latest allocation, from `end` on.
  void trim(const std::byte* end) noexcept { used_ = (static_cast<size_t>(end - base()) + 7) & ~size_t{7}; }
  size_t left() const noexcept { return end_ - used_; }
  std::span<std::byte> used() noexcept { return {base(), used_}; }

 private:
  std::byte* base() noexcept { return reinterpret_cast<std::byte*>(block_.data()); }

  std::vector<uint64_t> block_;
  size_t& used_;  // reset by the head
  const size_t& end_;
  const size_t most_requested_;
  size_t& requested_;
};

}  // namespace dvm::vm
