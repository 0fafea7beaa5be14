#pragma once
// The principal buffer of one CPU: records of all ECBs that fired there, in the order of their firings.
//
//   switch  Two halves of bufsize bytes each: probe context fills one while the consumer reads the other.
//   fill    One buffer of bufsize bytes, read at the end, with room reserved for END's clauses. The first record
//           without room ends tracing.
//   ring    One buffer of bufsize bytes, read at the end. A record without room replaces the oldest ones:
//
//             | newest records ... | room | oldest records ... | unused |
//             0                  used   oldest                end
//
// In a ring, a record is never split: one that does not fit at the end goes to the start. Under the other policies, a record
// without room is counted as a drop.
//
// reserve(), commit() and drops are probe context: no allocation, no lock.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>

#include "runtime/buffer/record.h"

namespace dvm::runtime {

struct FreeMemory {
  void operator()(std::byte* p) const { std::free(p); }
};
// Zeroed memory whose pages are allocated when they are touched. Null: there is not enough.
using BufferMemory = std::unique_ptr<std::byte[], FreeMemory>;
BufferMemory allocate_buffer(size_t bytes);

// In the order of the words of options of kind policy.
enum class BufferPolicy : uint8_t { switch_, fill, ring };

struct BufferPlan {
  BufferPolicy policy = BufferPolicy::switch_;
  size_t bytes = 0;
  size_t set_apart = 0;  // bytes of a fill buffer that are reserved for END

  size_t memory() const { return policy == BufferPolicy::switch_ ? 2 * bytes : bytes; }
};

class PrincipalBuffer {
 public:
  // False: no memory of this size.
  bool allocate(const BufferPlan& plan);

  // Reserves room for a record, 8-aligned. Null: there is none. A second call before commit() returns the same room.
  std::byte* reserve(size_t bytes) noexcept {
    if (bytes > limit_ - used_ && !make_room(bytes)) return nullptr;
    return active_ + used_;
  }
  void commit(size_t bytes) noexcept { used_ += bytes; }

  // Returns the records that were committed since the last call, oldest first; valid until the next call. Empties the buffer.
  std::array<std::span<const std::byte>, 2> take() noexcept;
  // Makes the reserved room available to END, even if the buffer is filled.
  void open_reserve() noexcept;

  // True if the buffer should be read now, before records are dropped.
  bool wants_reading() const noexcept { return used_ > read_at_; }
  bool is_filled() const noexcept { return is_filled_; }
  void drop() noexcept { drops_++; }
  uint64_t drops() const noexcept { return drops_; }

 private:
  bool make_room(size_t bytes) noexcept;
  bool drop_oldest(size_t bytes) noexcept;
  void wrap() noexcept;

  BufferMemory halves_[2];  // the second only of policy switch
  std::byte* active_ = nullptr;
  size_t size_ = 0;
  size_t used_ = 0;
  size_t limit_ = 0;           // up to which used_ may grow
  size_t read_at_ = SIZE_MAX;  // of policy switch: half of the size
  size_t oldest_ = 0, end_ = 0;
  bool is_wrapped_ = false;
  bool is_filled_ = false;
  BufferPolicy policy_ = BufferPolicy::switch_;
  unsigned turn_ = 0;
  uint64_t drops_ = 0;
};

}  // namespace dvm::runtime
