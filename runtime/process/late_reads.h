#pragma once
// Memory read from the traced process while the clauses of a firing ran, because it could not be foreseen. LateReads keeps it
// for a recording; RecordedReads finds it again in a replay. Probe context.

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

  // A new firing: what is there is forgotten.
  void begin() noexcept { used_ = count_ = 0; }
  // A string goes with its NUL; one without was cut.
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
// Reads of another script are answered as far as the bytes are there.
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
  size_t next_ = 0;  // behind the piece that answered last
};

}  // namespace dvm::runtime
