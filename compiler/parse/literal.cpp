// Values of literals. Tests: tests/unit/compiler/literal_test.cpp.
#include "compiler/parse/literal.h"

#include <fmt/format.h>

#include <algorithm>

namespace dvm::compiler {

namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 99;
}

// Takes u, l, ll and their combinations off the end.
bool take_suffix(std::string_view& digits, Integer& integer) {
  unsigned l = 0, u = 0;
  while (!digits.empty()) {
    const char c = digits.back();
    if (c == 'u' || c == 'U')
      u++;
    else if (c == 'l' || c == 'L')
      l++;
    else
      break;
    digits.remove_suffix(1);
  }
  integer.is_unsigned = u != 0, integer.is_long = l != 0;
  return u <= 1 && l <= 2;
}

// One escape at text[i], which follows a backslash; i moves past it.
void append_escape(std::string_view text, size_t& i, std::string& to) {
  static constexpr std::string_view kNames = "abfnrtv\"\\";
  static constexpr std::string_view kValues = "\a\b\f\n\r\t\v\"\\";
  const char c = text[i];
  if (const size_t k = kNames.find(c); k != std::string_view::npos) {
    to += kValues[k], i++;
  } else if (c >= '0' && c <= '7') {
    unsigned value = 0;
    for (unsigned n = 0; n < 3 && i < text.size() && text[i] >= '0' && text[i] <= '7'; n++)
      value = value * 8 + static_cast<unsigned>(digit(text[i++]));
    to += static_cast<char>(value);
  } else if (c == 'x' && i + 1 < text.size() && digit(text[i + 1]) < 16) {
    unsigned value = 0;
    for (i++; i < text.size() && digit(text[i]) < 16; i++) value = value * 16 + static_cast<unsigned>(digit(text[i]));
    to += static_cast<char>(value);
  } else if (c == '\n') {
    i++;  // a continued line
  } else {
    to += '\\', to += c, i++;
  }
}

std::string resolve(std::string_view quoted) {
  const std::string_view text = quoted.substr(1, quoted.size() - 2);
  std::string value;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '\\' && i + 1 < text.size())
      append_escape(text, ++i, value);
    else
      value += text[i++];
  }
  return value;
}

}  // namespace

std::unique_ptr<Integer> parse_integer(std::string_view text, Location where, Diagnostics& diagnostics) {
  auto integer = std::make_unique<Integer>(where);
  std::string_view digits = text;
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) digits.remove_prefix(2);
  const bool good_suffix = take_suffix(digits, *integer);
  const unsigned base = hex ? 16 : digits.size() > 1 && digits[0] == '0' ? 8 : 10;
  integer->decimal = base == 10;
  bool overflow = false;
  for (const char c : digits) {
    if (digit(c) >= static_cast<int>(base)) {
      diagnostics.error(Tag::D_INT_DIGIT, where, fmt::format("constant {} contains invalid digit {}", text.substr(0, 64), c));
      return integer;
    }
    overflow |= __builtin_mul_overflow(integer->value, base, &integer->value);
    overflow |= __builtin_add_overflow(integer->value, static_cast<uint64_t>(digit(c)), &integer->value);
  }
  if (overflow)
    diagnostics.error(Tag::D_INT_OFLOW, where,
                      fmt::format("constant {} is too large to represent in any integer type", text.substr(0, 64)));
  else if (digits.empty() || !good_suffix)
    diagnostics.error(Tag::D_SYNTAX, where, fmt::format("syntax error near \"{}\"", text.substr(0, 64)));
  return integer;
}

std::unique_ptr<Integer> parse_character(std::string_view text, Location where, Diagnostics& diagnostics) {
  auto integer = std::make_unique<Integer>(where);
  const std::string value = resolve(text);
  if (value.empty()) diagnostics.error(Tag::D_CHR_NULL, where, "empty character constant");
  if (value.size() > 8) diagnostics.error(Tag::D_CHR_OFLOW, where, "character constant is too long");
  for (const char c : value) integer->value = integer->value << 8 | static_cast<unsigned char>(c);
  if (value.size() == 1) integer->value = static_cast<uint64_t>(static_cast<signed char>(value[0]));
  return integer;
}

std::string unescape(std::string_view quoted) {
  std::string value = resolve(quoted);
  if (const size_t end = value.find('\0'); end != std::string::npos) value.resize(end);
  return value;
}

}  // namespace dvm::compiler
