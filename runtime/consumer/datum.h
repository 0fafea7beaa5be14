#pragma once
// A recorded value on its way to text, and the ways dtrace prints one when no format says how.

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

// Bytes as the record or the key holds them: integers of the type's size, strings with their NUL, or raw bytes.
struct Datum {
  const dif::DataType* type = nullptr;
  std::span<const std::byte> bytes;
  dif::Action made_by = dif::Action::expression;  // what else made it: made.h

  bool is_string() const { return type->kind == dif::TypeKind::string; }
  bool is_made() const { return made_by != dif::Action::expression; }
  bool is_integer() const { return type->kind == dif::TypeKind::integer; }
  std::string_view text() const;    // up to the NUL
  uint64_t unsigned_value() const;  // the integer, not widened by sign
  int64_t signed_value() const;

 private:
  // With a size that is known at compile time, a copy is one instruction.
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

// How values are printed without a format: the options that say it.
struct DatumStyle {
  bool quiet = false;
  bool raw = false;         // option rawbytes: never as text
  size_t string_bytes = 0;  // of strings as bytes: so many, the zeros behind them too
};
DatumStyle datum_style(const dif::Options& options);

// trace(): columns by size and sign unless quiet.
void append_traced(std::string& out, const Datum& datum, const DatumStyle& style);
// A key in an unformatted aggregation. packed: where bars or packed distributions stand behind the keys.
void append_key(std::string& out, const Datum& datum, const DatumStyle& style, bool packed = false);
// The columns of such a key.
int packed_key_width(const Datum& datum);
// A dump of bytes: 16 a line, with their offset before and as characters behind them.
void append_dump(std::string& out, std::span<const std::byte> bytes);

}  // namespace dvm::runtime
