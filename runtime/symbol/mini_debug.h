#pragma once
// Symbols that distributions leave in a stripped file: an ELF file of its own, compressed by xz, in the section .gnu_debugdata.
// It has the functions that .dynsym lacks, at the addresses of the file around it.

#include <libelf.h>

#include <memory>
#include <vector>

namespace dvm::runtime {

class MiniDebug {
 public:
  // Takes a file that is open; get() is null if the file has no such section, or one that cannot be read.
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
