#pragma once
// Bytes in words of eight. Probe context. Covered by tests/unit/vm/state_test.cpp and dynamic_variables_test.cpp.

#include <cstdint>
#include <cstring>
#include <string_view>

namespace dvm::vm {

template <class Integer>
uint64_t loaded(const char* from) noexcept {
  Integer value;
  std::memcpy(&value, from, sizeof(value));
  return value;
}

// The last `rest` bytes (0 to 7) of a text, with zeros behind them, and nothing read beyond it.
inline uint64_t last_word(std::string_view text, size_t rest) noexcept {
  if (rest == 0) return 0;
  const char* end = text.data() + text.size();
  if (text.size() >= 8) return loaded<uint64_t>(end - 8) >> (64 - 8 * rest);
  if (rest >= 4) return loaded<uint32_t>(end - rest) | loaded<uint32_t>(end - 4) << (8 * (rest - 4));
  const char* begin = end - rest;
  return loaded<uint8_t>(begin) | loaded<uint8_t>(begin + rest / 2) << (8 * (rest / 2)) |
         loaded<uint8_t>(end - 1) << (8 * (rest - 1));
}

}  // namespace dvm::vm
