// Late reads kept and found again. Covered by tests/unit/instrument/late_reads_test.cpp.

#include "runtime/process/late_reads.h"

#include <algorithm>
#include <cstring>

namespace dvm::runtime {

void LateReads::add(uint64_t address, std::span<const std::byte> bytes, bool is_string) noexcept {
  if (count_ == kMostPieces || bytes.size() > kMostBytes - used_) {
    lost_++;
    return;
  }
  const std::span<std::byte> to = std::span(*bytes_).subspan(used_, bytes.size());
  std::copy(bytes.begin(), bytes.end(), to.begin());
  (*pieces_)[count_++] = {address, to, is_string};
  used_ += bytes.size();
}

template <class Suffices>
std::span<const std::byte> RecordedReads::find(uint64_t address, Suffices suffices) noexcept {
  for (size_t i = 0; i < pieces_.size(); i++) {
    const size_t index = (next_ + i) % pieces_.size();
    const vm::CapturedMemory& piece = pieces_[index];
    const uint64_t at = address - piece.address;
    if (at >= piece.bytes.size() || !suffices(piece.bytes.subspan(at))) continue;
    next_ = index + 1;
    return piece.bytes.subspan(at);
  }
  return {};
}

bool RecordedReads::read(uint64_t address, std::span<std::byte> to) noexcept {
  const auto found = find(address, [&](std::span<const std::byte> bytes) { return bytes.size() >= to.size(); });
  std::copy_n(found.begin(), std::min(found.size(), to.size()), to.begin());
  return !found.empty();
}

std::ptrdiff_t RecordedReads::read_string(uint64_t address, std::span<char> to) noexcept {
  const auto length = [&](std::span<const std::byte> bytes) {
    return ::strnlen(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), to.size()));
  };
  const auto found =
      find(address, [&](std::span<const std::byte> bytes) { return length(bytes) < bytes.size() || bytes.size() >= to.size(); });
  if (found.empty()) return -1;
  const size_t size = length(found);
  std::memcpy(to.data(), found.data(), std::min(size + 1, to.size()));
  return static_cast<std::ptrdiff_t>(size);
}

}  // namespace dvm::runtime
