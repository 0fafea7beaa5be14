#pragma once
// Integers and text in a field, as C's printf() puts them there, without its reading of a format each time.

#include <cstdint>
#include <string>
#include <string_view>

namespace dvm::runtime {

// The part of a format between % and the conversion. The flag ' changes nothing: the locale is C's.
struct FormatField {
  int width = -1;
  int precision = -1;
  bool is_left = false;       // -
  bool has_zeros = false;     // 0
  bool has_plus = false;      // +
  bool has_space = false;     // a space
  bool is_alternate = false;  // #

  bool is_plain() const { return width < 0 && precision < 0 && !has_plus && !has_space && !is_alternate; }
};

enum class Base : uint8_t { octal = 8, decimal = 10, hex = 16, upper_hex = 17 };

// How many a number has in decimal.
unsigned decimal_digits(uint64_t value);

void append_signed(std::string& out, const FormatField& field, int64_t value);
void append_unsigned(std::string& out, const FormatField& field, uint64_t value, Base base = Base::decimal);
// Cut at the precision.
void append_text(std::string& out, const FormatField& field, std::string_view text);

}  // namespace dvm::runtime
