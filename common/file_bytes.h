#pragma once
// Reads and writes at an offset of a file. A call transfers all bytes or fails.

#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace dvm {

// Calls `some` (pread or pwrite), which may move fewer bytes than it is asked to, until it has moved all.
template <class Byte, class Some>
bool move_all_at(int file, uint64_t at, std::span<Byte> bytes, Some some) noexcept {
  while (!bytes.empty()) {
    const ssize_t size = some(file, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return false;
    at += static_cast<uint64_t>(size);
    bytes = bytes.subspan(static_cast<size_t>(size));
  }
  return true;
}

inline bool read_at(int file, uint64_t at, std::span<std::byte> to) noexcept { return move_all_at(file, at, to, pread); }
inline bool write_at(int file, uint64_t at, std::span<const std::byte> from) noexcept {
  return move_all_at(file, at, from, pwrite);
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
