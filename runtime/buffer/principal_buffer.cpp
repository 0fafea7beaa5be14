// The policies for a record that finds no room, and the reading. Tested by tests/unit/runtime/buffer_test.cpp.

#include "runtime/buffer/principal_buffer.h"

namespace dvm::runtime {

BufferMemory allocate_buffer(size_t bytes) {
  return BufferMemory(static_cast<std::byte*>(std::calloc(bytes == 0 ? 1 : bytes, 1)));
}

bool PrincipalBuffer::allocate(const BufferPlan& plan) {
  policy_ = plan.policy;
  size_ = plan.bytes - plan.bytes % 8;
  for (unsigned i = 0; i < (policy_ == BufferPolicy::switch_ ? 2 : 1); i++)
    if (!(halves_[i] = allocate_buffer(size_))) return size_ = 0, false;
  active_ = halves_[turn_].get();
  if (policy_ == BufferPolicy::switch_) read_at_ = size_ / 2;
  limit_ = plan.set_apart < size_ ? size_ - plan.set_apart : 0;
  return true;
}

bool PrincipalBuffer::make_room(size_t bytes) noexcept {
  if (policy_ == BufferPolicy::ring && bytes <= size_) return drop_oldest(bytes);
  if (policy_ != BufferPolicy::fill) return drop(), false;
  is_filled_ = true;
  limit_ = used_;  // nothing further, even if it would fit
  return false;
}

// Until bytes fit between the newest and the oldest record.
bool PrincipalBuffer::drop_oldest(size_t bytes) noexcept {
  while (bytes > limit_ - used_) {
    if (!is_wrapped_) {
      wrap();
    } else if (oldest_ < end_) {
      oldest_ += header_of(active_ + oldest_).size;
      limit_ = oldest_;
    } else {
      is_wrapped_ = false;
      limit_ = size_;
    }
  }
  return true;
}

void PrincipalBuffer::wrap() noexcept {
  end_ = used_;
  oldest_ = used_ = limit_ = 0;
  is_wrapped_ = true;
}

void PrincipalBuffer::open_reserve() noexcept {
  if (policy_ == BufferPolicy::fill) limit_ = size_;
}

std::array<std::span<const std::byte>, 2> PrincipalBuffer::take() noexcept {
  std::array<std::span<const std::byte>, 2> taken;
  if (is_wrapped_) taken[0] = {active_ + oldest_, end_ - oldest_};
  taken[1] = {active_, used_};
  if (policy_ == BufferPolicy::switch_) active_ = halves_[turn_ ^= 1].get();
  used_ = 0;
  if (policy_ == BufferPolicy::ring) is_wrapped_ = false, limit_ = size_;
  return taken;
}

}  // namespace dvm::runtime
