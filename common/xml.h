#pragma once
// Escapes arbitrary bytes for XML.

#include <algorithm>
#include <string>
#include <string_view>

#include "common/utf8.h"

namespace dvm {

// For elements and attributes in double quotes. Escapes special characters. Control characters and bytes that are not UTF-8 are
// not allowed in XML, and become "_".
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
