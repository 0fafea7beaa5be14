#pragma once
// A value in number_values: its opcode and operands, and the version of the variable or memory that it reads. Equal keys mean
// equal values.

#include <cstddef>
#include <cstdint>

#include "compiler/lower/code.h"

namespace dvm::compiler {

struct ValueKey {
  dif::Opcode op;
  VirtualRegister left, right;
  uint64_t value;
  uint32_t version;
  bool operator==(const ValueKey&) const = default;
};

struct ValueKeyHash {
  size_t operator()(const ValueKey& k) const {
    uint64_t h = static_cast<uint64_t>(k.op);
    for (const uint64_t part : {uint64_t{k.left}, uint64_t{k.right}, k.value, uint64_t{k.version}})
      h = (h ^ part) * 0x9e3779b97f4a7c15, h ^= h >> 29;
    return h;
  }
};

}  // namespace dvm::compiler
