// Any bytes as a program with debug information.

#include "tests/fuzz/read_dwarf.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static dvm::fuzz::MemoryFile file;
  dvm::fuzz::read_dwarf(file, {reinterpret_cast<const char*>(data), size});
  return 0;
}
