// Any bytes as a recording, behind right checksums: without them hardly an input would get past these. What can be replayed is,
// also with a program.

#include "tests/fuzz/replay.h"
#include "tests/fuzz/run_recording.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static dvm::fuzz::MemoryFile file;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  dvm::fuzz::seal(bytes);
  if (dvm::fuzz::replay(file, bytes)) dvm::fuzz::run_recording(file, bytes);
  return 0;
}
