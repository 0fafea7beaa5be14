#pragma once
// A file as named_code.h and restarts.h read it: segments, addresses, and the pointers in it. Files are untrusted: all reads are
// bounded. Consumer context.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>

#include "runtime/code/function_code.h"

namespace dvm::runtime {

// A loaded segment of a file.
struct FileSegment {
  uint64_t offset = 0, size = 0, address = 0;
  bool has_address(uint64_t one) const { return one >= address && one - address < size; }
};

// The addresses in segments. Most words lie outside of all of them.
class LoadedAddresses {
 public:
  explicit LoadedAddresses(std::span<const FileSegment> segments) : segments_(segments) {
    for (const FileSegment& one : segments) {
      if (one.size == 0) continue;
      first_ = std::min(first_, one.address);
      last_ = std::max(last_, one.address + std::min(one.size - 1, UINT64_MAX - one.address));
    }
  }
  uint64_t first() const { return first_; }
  uint64_t last() const { return last_; }
  bool has(uint64_t address) const {
    if (address < first_ || address > last_) return false;
    return std::ranges::any_of(segments_, [&](const FileSegment& one) { return one.has_address(address); });
  }

 private:
  std::span<const FileSegment> segments_;
  uint64_t first_ = UINT64_MAX, last_ = 0;
};

template <class T>
bool load_value(CodeBytes bytes, uint64_t offset, T& value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof value) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return true;
}

struct NamingFile {
  CodeBytes file;
  std::span<const FileSegment> code, data;
  FileSegment dynamic{};
  uint64_t frame_index = 0;  // address of .eh_frame_hdr; 0: there is none
  bool is_fixed = false;     // addresses of the file are those in the process

  // The bytes from the address on in one segment, at most `size`.
  CodeBytes at(uint64_t address, uint64_t size) const;
  CodeBytes bytes_of(const FileSegment& segment) const { return file.subspan(segment.offset, segment.size); }

  using TakePointer = std::function<void(uint64_t address, uint64_t place)>;
  // Every address that the dynamic linker stores, and the word where it does: R_X86_64_RELATIVE, R_X86_64_64 and the like, and
  // DT_RELR.
  void each_pointer(const TakePointer& take) const;
  // Every word from `first` to `last`, at any offset. Where addresses are fixed, it may be a pointer. first: not 0.
  template <class Take>
  void each_word(uint64_t first, uint64_t last, Take take) const {
    const bool is_low = last <= UINT32_MAX;
    uint64_t word = 0;
    for (const auto segments : {code, data})
      for (const FileSegment& one : segments) {
        const CodeBytes bytes = bytes_of(one);
        for (uint64_t offset = 0; load_value(bytes, offset, word); offset += is_low ? to_next_low(word) : 1)
          if (word >= first && word <= last) take(word, one.address + offset);
      }
  }

 private:
  // How far behind a word the next one begins that may be less than 2^32 and not 0: the upper half of that is 0.
  static uint64_t to_next_low(uint64_t word) {
    const auto upper = static_cast<uint32_t>(word >> 32);
    if (upper != 0) return 4 - static_cast<unsigned>(std::countl_zero(upper)) / 8;
    return word == 0 ? 5 : 1;
  }
};

}  // namespace dvm::runtime
