#pragma once
// Reads numbers and texts from the bytes of an untrusted file.

#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "runtime/code/function_code.h"

namespace dvm::runtime {

// Nothing: they are not inside of the file.
template <class T>
std::optional<T> load(CodeBytes file, uint64_t at) {
  if (at > file.size() || file.size() - at < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, file.data() + at, sizeof value);
  return value;
}

// Empty: it is not inside of the file.
inline std::string_view text(CodeBytes file, uint64_t at, uint64_t size) {
  if (at > file.size() || file.size() - at < size) return {};
  return {reinterpret_cast<const char*>(file.data() + at), size};
}

}  // namespace dvm::runtime
