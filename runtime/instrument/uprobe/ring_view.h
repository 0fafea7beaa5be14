#pragma once
// Reads records out of a BPF ring buffer, whoever mapped it. Each record has an 8-byte header:
//
//   | length, 30 bits | discarded | busy | page offset (the kernel's) |   then the data, padded to 8

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace dvm::runtime {

struct RingView {
  uint64_t* consumed = nullptr;        // position up to which the room is the producers' again
  const uint64_t* produced = nullptr;  // position that the producers have reached
  const std::byte* data = nullptr;     // twice in a row, so that a record is never split
  uint64_t bytes = 0;                  // of data, once; a power of two

  static constexpr uint32_t kBusy = 1u << 31, kDiscarded = 1u << 30;
  static constexpr uint64_t kReleaseEvery = 64 * 1024;  // bytes after which producers are given the room back

  // Hands the records that were complete when the call began to handle(std::span<const std::byte>), until it returns false.
  // Returns how many it has handed over. A record that is_due() of the same does not hold for stays, and so do those behind it.
  template <class Handle, class IsDue>
  uint64_t consume(Handle&& handle, IsDue&& is_due) const;
  template <class Handle>
  uint64_t consume(Handle&& handle) const {
    return consume(std::forward<Handle>(handle), [](std::span<const std::byte>) { return true; });
  }
};

template <class Handle, class IsDue>
uint64_t RingView::consume(Handle&& handle, IsDue&& is_due) const {
  const uint64_t end = __atomic_load_n(produced, __ATOMIC_ACQUIRE);
  uint64_t released = *consumed, at = released, count = 0;
  for (bool goes_on = true; goes_on && at < end;) {
    const std::byte* record = data + (at & (bytes - 1));
    const uint32_t header = __atomic_load_n(reinterpret_cast<const uint32_t*>(record), __ATOMIC_ACQUIRE);
    if (header & kBusy) break;
    const uint32_t length = header & ~(kBusy | kDiscarded);
    if (const std::span data_of_it(record + 8, length); !(header & kDiscarded)) {
      if (!is_due(data_of_it)) break;
      goes_on = handle(data_of_it);
      count++;
    }
    at += 8 + ((length + 7ull) & ~7ull);
    if (at - released >= kReleaseEvery) __atomic_store_n(consumed, released = at, __ATOMIC_RELEASE);
  }
  __atomic_store_n(consumed, at, __ATOMIC_RELEASE);
  return count;
}

}  // namespace dvm::runtime
