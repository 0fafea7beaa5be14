#pragma once
// The consumer's side of a BPF ring buffer, mapped: a page with the consumer's position (ours to write), a page with the
// producers' position, then the data twice in a row, so that a record is never split. Each record has an 8-byte header:
//
//   | length, 30 bits | discarded | busy | page offset (the kernel's) |   then the data, padded to 8

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "common/result.h"
#include "runtime/instrument/uprobe/kernel.h"

namespace dvm::runtime {

// A shared mapping, unmapped at the end.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Mapping();
  static Result<Mapping> of(int fd, size_t bytes, bool writable, size_t at);

  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

class Ring {
 public:
  // bytes: rounded up to what the kernel takes.
  static Result<std::unique_ptr<Ring>> make(size_t bytes);

  int ring_fd() const { return ring_.get(); }
  int drops_fd() const { return drops_.get(); }
  uint64_t drops() const;

  // Hands every record that was complete when the call began to handle(std::span<const std::byte>). Returns how many.
  template <class Handle>
  uint64_t consume(Handle&& handle);

 private:
  static constexpr uint32_t kBusy = 1u << 31, kDiscarded = 1u << 30;
  static constexpr uint64_t kReleaseEvery = 64 * 1024;  // bytes after which producers are given the room back

  static uint64_t& position(const Mapping& mapping, size_t at) { return *reinterpret_cast<uint64_t*>(mapping.data() + at); }

  FileDescriptor ring_, drops_;
  Mapping consumer_, producer_, counter_;
  size_t bytes_ = 0, page_ = 0;
};

template <class Handle>
uint64_t Ring::consume(Handle&& handle) {
  uint64_t& released = position(consumer_, 0);
  const uint64_t end = __atomic_load_n(&position(producer_, 0), __ATOMIC_ACQUIRE);
  uint64_t at = released, count = 0;
  while (at < end) {
    const std::byte* record = producer_.data() + page_ + (at & (bytes_ - 1));
    const uint32_t header = __atomic_load_n(reinterpret_cast<const uint32_t*>(record), __ATOMIC_ACQUIRE);
    if (header & kBusy) break;
    const uint32_t length = header & ~(kBusy | kDiscarded);
    if (!(header & kDiscarded)) {
      handle(std::span<const std::byte>(record + 8, length));
      count++;
    }
    at += 8 + ((length + 7ull) & ~7ull);
    if (at - released >= kReleaseEvery) __atomic_store_n(&released, at, __ATOMIC_RELEASE);
  }
  __atomic_store_n(&released, at, __ATOMIC_RELEASE);
  return count;
}

}  // namespace dvm::runtime
