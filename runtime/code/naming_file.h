#pragma once
// A file as named_code.h and restarts.h read it: segments, addresses, and the pointers in it. Files are untrusted: all reads are
// bounded. Consumer context.

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
  // Every word that is not 0, at any offset. Where addresses are fixed, it may be a pointer.
  template <class Take>
  void each_word(Take take) const {
    uint64_t word = 0;
    for (const auto segments : {code, data})
      for (const FileSegment& one : segments) {
        const CodeBytes bytes = bytes_of(one);
        for (uint64_t offset = 0; load_value(bytes, offset, word); offset++)
          if (word != 0) take(word, one.address + offset);
      }
  }
};

}  // namespace dvm::runtime
