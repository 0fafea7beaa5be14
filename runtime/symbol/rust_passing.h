#pragma once
// How rustc passes values between functions of Rust. The convention is not documented; this is that of rustc 1.95.
//
// A type that consists of one or two scalars, however deep in structures, travels as these, each in a register of its own.
// Another one is an aggregate. It travels in one integer register if it has at most eight bytes, otherwise by its address.

#include <cstdint>
#include <vector>

#include "runtime/symbol/dwarf_describe.h"

namespace dvm::runtime {

struct RustScalar {
  uint64_t offset = 0, size = 0;
  bool is_floating = false;

  uint64_t end() const { return offset + size; }
  bool operator==(const RustScalar&) const = default;
};

struct RustPassing {
  // unknown: an enumeration whose values have different members, or several, a union, a floating-point number in a structure
  // that may be repr(C), or 17 to 32 bytes with an integer of 16 bytes
  enum class Kind : uint8_t { nothing, scalars, aggregate, unknown };
  Kind kind = Kind::nothing;
  std::vector<RustScalar> scalars;  // one or two

  bool operator==(const RustPassing&) const = default;
};

RustPassing rust_passing(dif::TypeRef type, DieTable& table);

}  // namespace dvm::runtime
