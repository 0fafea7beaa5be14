// Tested by tests/unit/common/columns_test.cpp.

#include "common/columns.h"

#include <clocale>
#include <cwchar>

#include "common/utf8.h"

namespace dvm {
namespace {

// The table of wcwidth(), which otherwise knows only ASCII in the locale "C".
class Utf8Locale {
 public:
  Utf8Locale() : before_(uselocale(known())) {}
  ~Utf8Locale() { uselocale(before_); }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  static locale_t known() {
    static const locale_t kKnown = newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return kKnown;
  }

  locale_t before_;
};

// Of a valid character.
wchar_t decode(std::string_view character) {
  if (character.size() == 1) return static_cast<unsigned char>(character[0]);
  auto c = static_cast<unsigned char>(character[0]) & (0xffu >> (character.size() + 1));
  for (const char byte : character.substr(1)) c = c << 6 | (static_cast<unsigned char>(byte) & 0x3f);
  return static_cast<wchar_t>(c);
}

}  // namespace

size_t terminal_columns(std::string_view text) {
  const Utf8Locale locale;
  size_t columns = 0;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    const int width = length == 0 ? 1 : wcwidth(decode(text.substr(0, length)));
    columns += width < 0 ? 1 : static_cast<size_t>(width);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return columns;
}

}  // namespace dvm
