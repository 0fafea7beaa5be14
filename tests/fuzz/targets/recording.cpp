// Any bytes as a recording, behind right checksums: without them hardly an input would get past these.

#include "tests/fuzz/replay.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static dvm::fuzz::MemoryFile file;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  dvm::fuzz::seal(bytes);
  dvm::fuzz::replay(file, bytes);
  return 0;
}
