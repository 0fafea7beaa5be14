// Tested by tests/unit/common/printable_test.cpp.

#include "common/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

namespace dvm {
namespace {

uint32_t byte_at(std::string_view text, size_t at) { return static_cast<unsigned char>(text[at]); }

// Bytes of the UTF-8 character that the text begins with, and which one it is; 0: of none.
size_t decode_utf8(std::string_view text, uint32_t& c) {
  c = byte_at(text, 0);
  if (c < 0x80) return 1;
  const size_t size = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
  if (c < 0xc2 || c > 0xf4 || text.size() < size) return 0;
  c &= 0xffu >> (size + 1);
  for (size_t i = 1; i < size; i++) {
    if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
    c = c << 6 | (byte_at(text, i) & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_half = c >= 0xd800 && c < 0xe000;  // of a pair in UTF-16
  return c < kLeast[size] || c > 0x10ffff || is_half ? 0 : size;
}

bool is_control(uint32_t c) { return c < 0x20 || (c >= 0x7f && c < 0xa0); }

bool is_plain(char c) { return c >= ' ' && c <= '~'; }

}  // namespace

std::string escaped_byte(char c) {
  using namespace std::literals;
  static constexpr std::string_view kFrom = "\0\a\b\f\n\r\t\v\"\\"sv;
  static constexpr std::string_view kTo = "0abfnrtv\"\\";
  if (const size_t at = kFrom.find(c); at != std::string_view::npos) return std::string("\\") + kTo[at];
  if (is_plain(c)) return std::string(1, c);
  return fmt::format("\\{:03o}", static_cast<unsigned char>(c));
}

std::string printable(std::string_view text, std::string_view kept) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    uint32_t c = 0;
    const size_t size = decode_utf8(text, c);
    const std::string_view one = text.substr(0, std::max<size_t>(size, 1));
    text.remove_prefix(one.size());
    if (size != 0 && (!is_control(c) || (size == 1 && kept.find(one[0]) != std::string_view::npos)))
      out += one;
    else
      for (const char byte : one) out += escaped_byte(byte);
  }
  return out;
}

void make_printable(std::string& text, size_t begin, std::string_view kept) {
  const std::string_view added = std::string_view(text).substr(std::min(begin, text.size()));
  if (std::all_of(added.begin(), added.end(), is_plain)) return;
  std::string shown = printable(added, kept);
  text.replace(begin, std::string::npos, shown);
}

}  // namespace dvm
