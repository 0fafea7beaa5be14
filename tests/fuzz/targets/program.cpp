// Any bytes as a program file, behind a right size and checksum: without them hardly an input would get past these.

#include "tests/fuzz/read_program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  dvm::fuzz::seal_program(bytes);
  dvm::fuzz::read_program(bytes);
  return 0;
}
