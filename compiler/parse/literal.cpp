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

// Takes D's suffix off the end: u, l, ul, ll or ull. Other characters stay.
void take_suffix(std::string_view& digits, Integer& integer) {
  const size_t end = digits.find_first_of("uUlL");
  if (end == std::string_view::npos) return;
  std::string suffix(digits.substr(end));
  for (char& c : suffix) c = c == 'U' ? 'u' : c == 'L' ? 'l' : c;
  if (suffix != "u" && suffix != "l" && suffix != "ul" && suffix != "ll" && suffix != "ull") return;
  digits.remove_suffix(suffix.size());
  integer.is_unsigned = suffix[0] == 'u', integer.is_long = suffix.back() == 'l';
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
  } else if (c == 'x') {  // without digits a NUL
    unsigned value = 0;
    for (i++; i < text.size() && digit(text[i]) < 16; i++) value = value * 16 + static_cast<unsigned>(digit(text[i]));
    to += static_cast<char>(value);
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

void bad_digit(std::string_view text, char digit, Location where, Diagnostics& diagnostics) {
  std::vector<std::string> hints;
  if (std::string_view("uUlL").find(digit) != std::string_view::npos) hints.push_back("suffixes are u, l, ul, ll and ull");
  diagnostics.error(Tag::D_INT_DIGIT, where, fmt::format("constant {} contains invalid digit {}", text.substr(0, 64), digit),
                    std::move(hints));
}

}  // namespace

std::unique_ptr<Integer> parse_integer(std::string_view text, Location where, Diagnostics& diagnostics) {
  auto integer = std::make_unique<Integer>(where);
  std::string_view digits = text;
  const bool hex = text.starts_with("0x") || text.starts_with("0X");
  if (hex) digits.remove_prefix(2);
  take_suffix(digits, *integer);
  const unsigned base = hex ? 16 : digits.size() > 1 && digits[0] == '0' ? 8 : 10;
  integer->decimal = base == 10;
  bool overflow = false;
  for (const char c : digits) {
    if (digit(c) >= static_cast<int>(base)) {
      bad_digit(text, c, where, diagnostics);
      return integer;
    }
    overflow |= __builtin_mul_overflow(integer->value, base, &integer->value);
    overflow |= __builtin_add_overflow(integer->value, static_cast<uint64_t>(digit(c)), &integer->value);
  }
  if (overflow)
    diagnostics.error(Tag::D_INT_OFLOW, where, fmt::format("constant {} results in integer overflow", text.substr(0, 64)));
  else if (digits.empty())
    bad_digit(text, text.back(), where, diagnostics);
  return integer;
}

std::unique_ptr<Integer> parse_character(std::string_view text, Location where, Diagnostics& diagnostics) {
  auto integer = std::make_unique<Integer>(where);
  const std::string value = resolve(text);
  if (value.empty()) diagnostics.error(Tag::D_CHR_NULL, where, "empty character constant");
  if (value.size() > 8) diagnostics.error(Tag::D_CHR_OFLOW, where, "character constant is too long");
  for (const char c : value) integer->value = integer->value << 8 | static_cast<unsigned char>(c);
  return integer;
}

std::string unescape(std::string_view quoted) {
  std::string value = resolve(quoted);
  if (const size_t end = value.find('\0'); end != std::string::npos) value.resize(end);
  return value;
}

}  // namespace dvm::compiler
