// Any bytes as a listing. What is assembled can be disassembled, and assembled again to the same.

#include "dvm/dif/text.h"
#include "tests/fuzz/fuzz_support.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace dvm;
  const auto difo = dif::assemble({reinterpret_cast<const char*>(data), size});
  if (!difo) {
    fuzz::require(difo.error().message.starts_with("line "), "an error names the line");
    return 0;
  }
  const std::string listing = dif::disassemble(*difo);
  const auto again = dif::assemble(listing);
  fuzz::require(!!again, "a listing can be assembled");
  fuzz::require(dif::disassemble(*again) == listing, "a listing assembles to what was listed");
  return 0;
}
