// Any bytes as a program of Go, and as one with a table of functions.

#include "tests/fuzz/read_go.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const uint64_t text : {uint64_t{0}, uint64_t{0x400000}, UINT64_MAX}) dvm::fuzz::read_go_functions(bytes, text);
  static dvm::fuzz::MemoryFile file;
  dvm::fuzz::read_go(file, bytes);
  return 0;
}
