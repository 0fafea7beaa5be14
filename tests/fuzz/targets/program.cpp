// Any bytes as a program file, behind a right size and checksum: without them hardly an input would get past these. What can be
// read is enabled, fired on and printed.

#include "tests/fuzz/read_program.h"
#include "tests/fuzz/run_program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace dvm;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  fuzz::seal_program(bytes);
  if (!fuzz::read_program(bytes)) return 0;
  const auto file = dif::from_bytes(bytes);
  for (const dif::NamedProgram& program : file->programs) fuzz::run_program(fuzz::on_known_probes(program.program));
  return 0;
}
