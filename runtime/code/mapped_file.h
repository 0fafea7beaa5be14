#pragma once
// A file of a traced process, mapped for reading. Its owner may cut it short meanwhile, and touching what is no longer there
// raises SIGBUS: the handler of this file then puts zeros there, which is no code.

#include <cstddef>
#include <span>

#include "common/result.h"
#include "runtime/symbol/regular_file.h"

namespace dvm::runtime {

class MappedFile {
 public:
  static Result<MappedFile> map(const RegularFile& file);
  MappedFile() = default;
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const unsigned char> bytes() const { return bytes_; }

 private:
  std::span<const unsigned char> bytes_;
  size_t slot_ = 0;  // of the list that the handler reads
};

}  // namespace dvm::runtime
