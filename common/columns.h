#pragma once
// How wide a terminal shows text.

#include <cstddef>
#include <string_view>

namespace dvm {

// The columns that text without control characters takes, whatever the locale: 2 for "\u4e2d", 0 for a combining accent. A
// character that the C library does not know takes one, and so does a byte that is not UTF-8.
size_t terminal_columns(std::string_view text);

}  // namespace dvm
