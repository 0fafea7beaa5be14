// Digits, signs, prefixes and padding. Tested by tests/unit/runtime/field_test.cpp against C's printf().

#include "runtime/consumer/field.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <utility>

namespace dvm::runtime {
namespace {

constexpr size_t kMostDigits = 22;  // of 64 bits in base 8

std::string_view digits_of(uint64_t value, Base base, char (&room)[kMostDigits]) {
  const int radix = base == Base::upper_hex ? 16 : static_cast<int>(base);
  char* end = std::to_chars(room, room + kMostDigits, value, radix).ptr;
  if (base == Base::upper_hex)
    std::transform(room, end, room, [](char c) { return c >= 'a' ? static_cast<char>(c - 'a' + 'A') : c; });
  return {room, static_cast<size_t>(end - room)};
}

void append_fill(std::string& out, size_t count, char fill) {
  if (count != 0) out.append(count, fill);
}

// Padding, what stands before the digits, zeros, the digits, padding.
void append_digits(std::string& out, const FormatField& field, std::string_view before, std::string_view digits,
                   size_t least_digits) {
  if (field.precision == 0 && digits == "0" && least_digits == 0) digits = {};
  size_t zeros = least_digits > digits.size() ? least_digits - digits.size() : 0;
  size_t used = before.size() + zeros + digits.size();
  const size_t width = field.width < 0 ? 0 : static_cast<size_t>(field.width);
  size_t padding = width > used ? width - used : 0;
  if (field.has_zeros && !field.is_left && field.precision < 0) zeros += std::exchange(padding, 0);
  if (!field.is_left) append_fill(out, padding, ' ');
  out += before;
  append_fill(out, zeros, '0');
  out += digits;
  if (field.is_left) append_fill(out, padding, ' ');
}

// Written where they stay: a copy would wait for them, since it reads in one piece what was written in several.
void append_decimal(std::string& out, uint64_t value) {
  const size_t at = out.size();
  out.resize(at + kMostDigits);
  char* const begin = out.data() + at;
  out.resize(at + static_cast<size_t>(std::to_chars(begin, begin + kMostDigits, value).ptr - begin));
}

size_t least_digits(const FormatField& field) { return field.precision < 0 ? 0 : static_cast<size_t>(field.precision); }

}  // namespace

unsigned decimal_digits(uint64_t value) {
  static constexpr auto kPowers = [] {
    std::array<uint64_t, 20> powers{1};
    for (size_t i = 1; i < powers.size(); i++) powers[i] = powers[i - 1] * 10;
    return powers;
  }();
  // A bit is 0.301 digits: that many are there at least.
  const auto digits = static_cast<unsigned>(std::bit_width(value) * 1233) >> 12;
  return std::max(digits + (digits < kPowers.size() && value >= kPowers[digits]), 1u);
}

void append_signed(std::string& out, const FormatField& field, int64_t value) {
  const uint64_t size = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  if (value >= 0 && field.is_plain()) return append_decimal(out, size);
  char room[kMostDigits];
  const std::string_view digits = digits_of(size, Base::decimal, room);
  const std::string_view sign = value < 0 ? "-" : field.has_plus ? "+" : field.has_space ? " " : "";
  append_digits(out, field, sign, digits, least_digits(field));
}

void append_unsigned(std::string& out, const FormatField& field, uint64_t value, Base base) {
  if (field.is_plain() && base == Base::decimal) return append_decimal(out, value);
  char room[kMostDigits];
  const std::string_view digits = digits_of(value, base, room);
  if (field.is_plain()) {
    out += digits;
    return;
  }
  std::string_view prefix;
  size_t least = least_digits(field);
  if (field.is_alternate && base == Base::octal && (value != 0 || field.precision == 0))
    least = std::max(least, digits.size() + (value != 0));
  if (field.is_alternate && base == Base::hex && value != 0) prefix = "0x";
  if (field.is_alternate && base == Base::upper_hex && value != 0) prefix = "0X";
  append_digits(out, field, prefix, digits, least);
}

void append_text(std::string& out, const FormatField& field, std::string_view text) {
  if (field.precision >= 0) text = text.substr(0, static_cast<size_t>(field.precision));
  const size_t padding =
      field.width > 0 && static_cast<size_t>(field.width) > text.size() ? static_cast<size_t>(field.width) - text.size() : 0;
  if (!field.is_left) append_fill(out, padding, ' ');
  out += text;
  if (field.is_left) append_fill(out, padding, ' ');
}

}  // namespace dvm::runtime
