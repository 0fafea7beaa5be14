#pragma once
// UTF-8, whatever the locale: output should not depend on it.

#include <cstdint>
#include <string>

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

}  // namespace dvm
