#pragma once
// The command line of the process as it was at the firing, if it was captured. Probe context.

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>

#include "dvm/vm/host.h"
#include "runtime/process/captured_file.h"

namespace dvm::runtime {

class CapturedCommandLine {
 public:
  void find(std::span<const vm::CapturedMemory> memory) noexcept {
    size_ = 0, is_whole_ = false;
    for (const vm::CapturedMemory& one : memory)
      if (one.is_file && one.address == static_cast<uint64_t>(vm::CapturedMemory::kCommandLine)) take(one.bytes);
  }
  // Its words, separated by blanks; of one that was too long, the beginning. Empty: it was not captured.
  std::string_view text() const noexcept { return {text_.data(), size_}; }
  bool is_whole() const noexcept { return is_whole_; }

 private:
  void take(std::span<const std::byte> bytes) noexcept {
    size_ = std::min(bytes.size(), text_.size());
    std::memcpy(text_.data(), bytes.data(), size_);
    is_whole_ = size_ > 0 && bytes.size() < kMostCommandLine && text_[size_ - 1] == '\0';
    while (size_ > 0 && text_[size_ - 1] == '\0') size_--;
    std::replace(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(size_), '\0', ' ');
  }

  std::array<char, kMostCommandLine> text_{};
  size_t size_ = 0;
  bool is_whole_ = false;
};

}  // namespace dvm::runtime
