#pragma once
// A recorded value, and its text without a format, as in dtrace.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>

#include "dvm/dif/action.h"
#include "dvm/dif/difo.h"
#include "dvm/dif/option.h"

namespace dvm::runtime {

// printf() that appends.
void append(std::string& out, const char* format, ...) __attribute__((format(printf, 2, 3)));

// A value in a record or key: an integer of the type's size, a string with its NUL, or raw bytes.
struct Datum {
  const dif::DataType* type = nullptr;
  std::span<const std::byte> bytes;
  dif::Action made_by = dif::Action::expression;  // another action: a stack or symbol (made.h)

  bool is_string() const { return type->kind == dif::TypeKind::string; }
  bool is_made() const { return made_by != dif::Action::expression; }
  bool is_integer() const { return type->kind == dif::TypeKind::integer; }
  std::string_view text() const;    // up to the NUL
  uint64_t unsigned_value() const;  // the integer, not widened by sign
  int64_t signed_value() const;

 private:
  // A copy of a size that is known at compile time is one instruction.
  template <class Integer>
  uint64_t loaded() const {
    Integer value;
    std::memcpy(&value, bytes.data(), sizeof(value));
    return value;
  }
};

inline uint64_t Datum::unsigned_value() const {
  if (bytes.size() == 8) return loaded<uint64_t>();
  if (bytes.size() == 4) return loaded<uint32_t>();
  uint64_t value = 0;
  std::memcpy(&value, bytes.data(), std::min<size_t>(bytes.size(), sizeof(value)));
  return value;
}

inline int64_t Datum::signed_value() const {
  if (bytes.size() == 8) return static_cast<int64_t>(loaded<uint64_t>());
  if (bytes.size() == 4) return static_cast<int32_t>(loaded<uint32_t>());
  size_t size = std::min<size_t>(bytes.size(), 8);
  if (size == 0) return 0;
  unsigned shift = static_cast<unsigned>(64 - 8 * size);
  return static_cast<int64_t>(unsigned_value() << shift) >> shift;
}

// The options for printing values without a format.
struct DatumStyle {
  bool quiet = false;
  bool raw = false;         // option rawbytes: never as text
  size_t string_bytes = 0;  // the size of strings that are printed as bytes, zeros at the end included
};
DatumStyle datum_style(const dif::Options& options);

// A value of trace(), in a column whose width follows from size and sign, unless quiet.
void append_traced(std::string& out, const Datum& datum, const DatumStyle& style);
// A key in an unformatted aggregation. packed: bars or packed distributions follow the keys.
void append_key(std::string& out, const Datum& datum, const DatumStyle& style, bool packed = false);
// The width of such a key, in columns.
int packed_key_width(const Datum& datum);
// A dump of bytes: 16 in a line, with the offset before them and the characters after them.
void append_dump(std::string& out, std::span<const std::byte> bytes);

}  // namespace dvm::runtime
