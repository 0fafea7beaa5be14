// Any bytes as a plan, behind a right size and checksum of the program in it. A plan that can be read is written as it was read.

#include "runtime/plan/plan_file.h"
#include "tests/fuzz/read_program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace dvm;
  constexpr size_t kHead = 9 + 4 + 4 + 8;
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (size > kHead) {
    std::string program = bytes.substr(kHead);
    fuzz::seal_program(program);
    bytes.replace(kHead, std::string::npos, program);
  }
  const Result<runtime::EcbPlan> plan = runtime::plan_from_bytes(bytes);
  if (!plan) {
    fuzz::require(!plan.error().message.empty(), "what is refused is refused for a reason");
    return 0;
  }
  const std::string written = runtime::to_bytes(*plan);
  const Result<runtime::EcbPlan> again = runtime::plan_from_bytes(written);
  fuzz::require(again && runtime::to_bytes(*again) == written, "what was written is read as it was written");
  return 0;
}
