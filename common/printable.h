#pragma once
// Makes untrusted text (names of processes, files and functions, strings of a traced process) safe to print. A terminal obeys
// control characters, so they become C escapes: \n \t \033, in UTF-8 \302\233. So do bytes that are not UTF-8.

#include <string>
#include <string_view>

namespace dvm {

// A byte as C's character constants write it: \n, \", \\, \033. Printable ASCII is not changed.
std::string escaped_byte(char c);
// kept: control characters that are not escaped.
std::string printable(std::string_view text, std::string_view kept = {});
// The same for the part of a text from `begin` on.
void make_printable(std::string& text, size_t begin, std::string_view kept = {});

// Kept in text that may have several lines.
inline constexpr std::string_view kLayout = "\n\t";

}  // namespace dvm
