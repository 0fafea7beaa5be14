// Any bytes as a DIFO: what the verifier admits runs without a crash, a loop or a touch of foreign memory. The input:
//
//   u8 integers (modulo 16) | u8 bytes of strings | u64 each integer | strings | u32 each instruction

#include <algorithm>
#include <cstring>

#include "tests/fuzz/machine.h"

namespace dvm::fuzz {
namespace {

class Reader {
 public:
  Reader(const uint8_t* data, size_t size) : left_(reinterpret_cast<const char*>(data), size) {}
  template <typename T>
  T number() {
    T value{};
    const std::string_view bytes = take(sizeof value);
    if (!bytes.empty()) std::memcpy(&value, bytes.data(), bytes.size());
    return value;
  }
  std::string_view take(size_t size) {
    const std::string_view bytes = left_.substr(0, size);
    left_.remove_prefix(bytes.size());
    return bytes;
  }
  bool is_empty() const { return left_.empty(); }

 private:
  std::string_view left_;
};

dif::Difo read(Reader reader) {
  dif::Difo difo;
  const unsigned integers = reader.number<uint8_t>() % 16, strings = reader.number<uint8_t>();
  for (unsigned i = 0; i < integers; i++) difo.integers.push_back(reader.number<uint64_t>());
  difo.strings = reader.take(strings);
  while (!reader.is_empty()) difo.text.push_back(dif::Instruction(reader.number<uint32_t>()));
  difo.variables = all_kinds();
  return difo;
}

}  // namespace
}  // namespace dvm::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace dvm::fuzz;
  Machine(all_kinds()).try_run(read({data, size}));
  return 0;
}
