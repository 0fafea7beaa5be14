#pragma once
// A recorded value on its way to text, and the ways dtrace prints one when no format says how.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "dvm/dif/action.h"
#include "dvm/dif/difo.h"

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
};

// trace(): columns by size and sign unless quiet.
void append_traced(std::string& out, const Datum& datum, bool quiet);
// A key in an unformatted aggregation.
void append_key(std::string& out, const Datum& datum);
// Bytes: as text when they look like it, otherwise as a dump.
void append_bytes(std::string& out, std::span<const std::byte> bytes, int width, bool quiet);

}  // namespace dvm::runtime
