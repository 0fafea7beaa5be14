// Any bytes as an ELF file.

#include "tests/fuzz/read_elf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static dvm::fuzz::MemoryFile file;
  dvm::fuzz::read_elf(file, {reinterpret_cast<const char*>(data), size});
  return 0;
}
