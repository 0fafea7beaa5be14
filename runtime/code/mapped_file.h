#pragma once
// A file of a traced process, mapped for reading. If its owner truncates it, reading the lost part raises SIGBUS. A handler in
// mapped_file.cpp then maps zeros there, which are not valid code.

#include <cstddef>
#include <span>

#include "common/regular_file.h"
#include "dvm/common/result.h"

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
