#pragma once
// Text in XML, whatever bytes it holds.

#include <algorithm>
#include <string>
#include <string_view>

#include "common/utf8.h"

namespace dvm {

// For elements and attributes in double quotes. Escapes what has a meaning there. What may not stand there becomes "_": control
// characters, and bytes that are no UTF-8, which would make a file unreadable.
inline std::string xml_escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const std::string_view c = text.substr(0, std::max<size_t>(length, 1));
    const bool is_control = (c[0] >= 0 && c[0] < ' ' && c[0] != '\t') || c[0] == 0x7f;
    if (length == 0 || is_control || c == "\xef\xbf\xbe" || c == "\xef\xbf\xbf")
      out += '_';
    else if (c == "&" || c == "<" || c == ">" || c == "\"")
      out += "&#" + std::to_string(c[0]) + ';';
    else
      out += c;
    text.remove_prefix(c.size());
  }
  return out;
}

}  // namespace dvm
