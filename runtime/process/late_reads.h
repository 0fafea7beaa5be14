#pragma once
// Memory that clauses read from the traced process while they ran, because it was not captured. LateReads keeps it for a
// recording; RecordedReads finds it in a replay. Probe context.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "dvm/vm/host.h"

namespace dvm::runtime {

class LateReads {
 public:
  static constexpr size_t kMostBytes = 64 * 1024;  // of one firing
  static constexpr size_t kMostPieces = 1024;

  // Begins a new firing, and removes the reads of the last one.
  void begin() noexcept { used_ = count_ = 0; }
  // bytes: of a string, with its NUL, unless it was cut.
  void add(uint64_t address, std::span<const std::byte> bytes, bool is_string) noexcept;
  std::span<const vm::CapturedMemory> pieces() const noexcept { return std::span(*pieces_).first(count_); }
  // Reads for which there was no room.
  uint64_t lost() const noexcept { return lost_; }

 private:
  std::unique_ptr<std::array<std::byte, kMostBytes>> bytes_ = std::make_unique<std::array<std::byte, kMostBytes>>();
  std::unique_ptr<std::array<vm::CapturedMemory, kMostPieces>> pieces_ =
      std::make_unique<std::array<vm::CapturedMemory, kMostPieces>>();
  size_t used_ = 0, count_ = 0;
  uint64_t lost_ = 0;
};

// Answers the reads of the recorded script in their order, so memory that changed between two reads changes in the replay too.
// Reads of another script succeed if the bytes were recorded.
class RecordedReads {
 public:
  void begin(std::span<const vm::CapturedMemory> pieces) noexcept { pieces_ = pieces, next_ = 0; }
  bool read(uint64_t address, std::span<std::byte> to) noexcept;
  // Like Host::read_string.
  std::ptrdiff_t read_string(uint64_t address, std::span<char> to) noexcept;

 private:
  // The bytes from an address on, out of the next piece for which `suffices` holds.
  template <class Suffices>
  std::span<const std::byte> find(uint64_t address, Suffices suffices) noexcept;

  std::span<const vm::CapturedMemory> pieces_;
  size_t next_ = 0;  // the piece after the one that answered last
};

}  // namespace dvm::runtime
