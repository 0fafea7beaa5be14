#pragma once
// Reads and writes at an offset of a file. A call transfers all bytes or fails.

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace dvm {

inline bool read_at(int file, uint64_t at, std::span<std::byte> to) noexcept {
  while (!to.empty()) {
    const ssize_t size = pread(file, to.data(), to.size(), static_cast<off_t>(at));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    at += static_cast<uint64_t>(size);
    to = to.subspan(static_cast<size_t>(size));
  }
  return true;
}

inline bool write_at(int file, uint64_t at, std::span<const std::byte> from) noexcept {
  while (!from.empty()) {
    const ssize_t size = pwrite(file, from.data(), from.size(), static_cast<off_t>(at));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    at += static_cast<uint64_t>(size);
    from = from.subspan(static_cast<size_t>(size));
  }
  return true;
}

template <class T>
requires std::is_trivially_copyable_v<T>
bool read_value(int file, uint64_t at, T& value) noexcept {
  return read_at(file, at, std::as_writable_bytes(std::span(&value, 1)));
}
template <class T>
requires std::is_trivially_copyable_v<T>
bool write_value(int file, uint64_t at, const T& value) noexcept {
  return write_at(file, at, std::as_bytes(std::span(&value, 1)));
}

}  // namespace dvm
