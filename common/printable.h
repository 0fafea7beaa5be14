#pragma once
// Text from outside (names of processes, files and functions, strings of a traced process) fit to be shown. A terminal obeys
// control characters, so they become escapes as C has them: \n \t \033, in UTF-8 \302\233. So do bytes that are no UTF-8.

#include <string>
#include <string_view>

namespace dvm {

// A byte as C's character constants have it: \n, \", \\, \033; what is printable in ASCII as it is.
std::string escaped_byte(char c);
// kept: control characters that stay.
std::string printable(std::string_view text, std::string_view kept = {});
// The same for a text from one of its places on.
void make_printable(std::string& text, size_t begin, std::string_view kept = {});

// Of lines that are printed as they are.
inline constexpr std::string_view kLayout = "\n\t";

}  // namespace dvm
