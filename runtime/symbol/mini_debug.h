#pragma once
// The symbols that distributions leave in a stripped file: an ELF file, compressed by xz, in the section .gnu_debugdata. It has
// the functions that .dynsym lacks, with the addresses of the outer file.

#include <libelf.h>

#include <memory>
#include <vector>

namespace dvm::runtime {

class MiniDebug {
 public:
  // file: open. get() is null if the file has no such section, or it cannot be read.
  explicit MiniDebug(Elf* file);
  ~MiniDebug();
  MiniDebug(const MiniDebug&) = delete;
  MiniDebug& operator=(const MiniDebug&) = delete;

  Elf* get() const { return elf_; }

 private:
  std::vector<char> bytes_;
  Elf* elf_ = nullptr;
};

}  // namespace dvm::runtime
