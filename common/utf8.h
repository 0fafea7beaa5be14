#pragma once
// UTF-8, independent of the locale.

#include <cstdint>
#include <string>
#include <string_view>

namespace dvm {

inline void append_utf8(std::string& out, uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  out += static_cast<char>((0xff00 >> (more + 1)) | (c >> (6 * more)));
  for (int i = more - 1; i >= 0; i--) out += static_cast<char>(0x80 | ((c >> (6 * i)) & 0x3f));
}

// The number of bytes of the first character of a text, which must not be empty. 0: it is not valid UTF-8.
inline size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return 1;
  const size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || length > text.size()) return 0;
  for (size_t i = 1; i < length; i++)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  const bool is_long = (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xf0 && byte(1) < 0x90);
  const bool is_none = (byte(0) == 0xed && byte(1) > 0x9f) || (byte(0) == 0xf4 && byte(1) > 0x8f);  // surrogates, above 0x10ffff
  return is_long || is_none ? 0 : length;
}

// Replaces each byte that is not part of a valid character by U+FFFD.
inline std::string valid_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    if (length == 0)
      append_utf8(valid, 0xfffd);
    else
      valid += text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return valid;
}

}  // namespace dvm
