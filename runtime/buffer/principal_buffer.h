#pragma once
// The principal buffer: records of all ECBs, in the order of their firings.
//
//   active   | record | record | record | reserved ... free |      <- probe context reserves, fills, commits
//   inactive | records of the time before, until the next switch | <- the consumer reads
//
// Policy switch: two halves of bufsize bytes each. The consumer takes the filled half and the firings go on in the other; a
// record that finds no room is a drop and is counted. DTrace has such a pair for each CPU because each CPU fires; here one thread
// runs all ECBs, so one pair serves all CPUs, and records of different CPUs stay in the order of time (the CPU is in the record).
//
// reserve(), commit() and drops are probe context: no allocation, no lock.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

namespace dvm::runtime {

struct FreeMemory {
  void operator()(std::byte* p) const { std::free(p); }
};
// Zeroed memory that takes no pages until it is touched; null when there is none.
using BufferMemory = std::unique_ptr<std::byte[], FreeMemory>;
BufferMemory allocate_buffer(size_t bytes);

class PrincipalBuffer {
 public:
  // False: no memory of this size.
  bool allocate(size_t bytes);

  // Room for a record at an address that is a multiple of 8, or null and a drop. Reserving again before commit() gives the same
  // room.
  std::byte* reserve(size_t bytes) noexcept {
    if (bytes > size_ - used_) {
      drops_++;
      return nullptr;
    }
    return active_ + used_;
  }
  void commit(size_t bytes) noexcept { used_ += bytes; }

  // What was committed since the last switch; valid until the next one.
  std::span<const std::byte> switch_buffers() noexcept;

  bool empty() const noexcept { return used_ == 0; }
  bool half_full() const noexcept { return used_ > size_ / 2; }
  size_t size() const noexcept { return size_; }
  uint64_t drops() const noexcept { return drops_; }

 private:
  BufferMemory halves_[2];
  std::byte* active_ = nullptr;
  size_t size_ = 0;
  size_t used_ = 0;
  unsigned turn_ = 0;
  uint64_t drops_ = 0;
};

}  // namespace dvm::runtime
