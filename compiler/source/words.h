#pragma once
// Scans a text for words, without parsing it.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace dvm::compiler {

struct ScannedWord {
  std::string_view text;
  unsigned depth = 0;    // of braces
  bool in_enum = false;  // between the braces of an enum
};

// Identifiers outside comments, strings, character constants and directives.
void for_each_word(std::string_view text, const std::function<void(const ScannedWord&)>& f);

// Splits a text at blanks.
std::vector<std::string> split_words(std::string_view text);

// The lines that begin with #, without the #.
std::vector<std::string_view> directives_of(std::string_view text);

}  // namespace dvm::compiler
