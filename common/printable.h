#pragma once
// Makes untrusted text (names of processes, files and functions, strings of a traced process) safe to print. Control characters,
// which a terminal would obey, become C escapes: \n \t \033, in UTF-8 \302\233. So do bytes that are not UTF-8.

#include <string>
#include <string_view>

namespace dvm {

// A byte as in a character constant of C: \n, \", \\, \033. Other printable ASCII is not changed.
std::string escaped_byte(char c);
// kept: control characters that are not escaped.
std::string printable(std::string_view text, std::string_view kept = {});
// The same, in place, for the part of a text from `begin` on.
void make_printable(std::string& text, size_t begin, std::string_view kept = {});

// The characters to keep in text of several lines.
inline constexpr std::string_view kLayout = "\n\t";

}  // namespace dvm
