#pragma once
// Formats integers and text as C's printf() does, without parsing the format each time.

#include <cstdint>
#include <string>
#include <string_view>

namespace dvm::runtime {

// The part of a format between % and the conversion. The flag ' has no effect, because the locale is C.
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

// The number of decimal digits of a value.
unsigned decimal_digits(uint64_t value);

void append_signed(std::string& out, const FormatField& field, int64_t value);
void append_unsigned(std::string& out, const FormatField& field, uint64_t value, Base base = Base::decimal);
// The text is cut at the precision.
void append_text(std::string& out, const FormatField& field, std::string_view text);

}  // namespace dvm::runtime
