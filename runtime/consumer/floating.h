#pragma once
// Values of type float and double. DIF has no floating-point types: such a value is an integer of the same size, and the name of
// its type marks it.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "dvm/dif/difo.h"

namespace dvm::runtime {

inline bool is_floating(const dif::DataType& type) {
  return type.kind == dif::TypeKind::integer && (type.name == "double" || type.name == "float");
}

inline double floating_value(std::span<const std::byte> bytes) {
  float small = 0;
  double large = 0;
  std::memcpy(&small, bytes.data(), std::min(sizeof(small), bytes.size()));
  std::memcpy(&large, bytes.data(), std::min(sizeof(large), bytes.size()));
  return bytes.size() == sizeof(small) ? static_cast<double>(small) : large;
}

}  // namespace dvm::runtime
