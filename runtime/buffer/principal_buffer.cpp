// The two halves and their switch. Tested by tests/unit/runtime/buffer_test.cpp.

#include "runtime/buffer/principal_buffer.h"

#include <utility>

namespace dvm::runtime {

BufferMemory allocate_buffer(size_t bytes) {
  return BufferMemory(static_cast<std::byte*>(std::calloc(bytes == 0 ? 1 : bytes, 1)));
}

bool PrincipalBuffer::allocate(size_t bytes) {
  bytes -= bytes % 8;
  for (BufferMemory& half : halves_)
    if (!(half = allocate_buffer(bytes))) return false;
  size_ = bytes;
  used_ = 0;
  active_ = halves_[turn_].get();
  return true;
}

std::span<const std::byte> PrincipalBuffer::switch_buffers() noexcept {
  std::span<const std::byte> filled(active_, used_);
  turn_ ^= 1;
  active_ = halves_[turn_].get();
  used_ = 0;
  return filled;
}

}  // namespace dvm::runtime
