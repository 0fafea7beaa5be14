#pragma once
// Words of D that C headers use as names.

#include <string_view>

namespace dvm::compiler {

// The neighbours of a word in a declaration.
struct WordPlace {
  std::string_view word;
  size_t previous;        // type of the token before it
  std::string_view rest;  // the text after it
  bool after_type;
  bool in_parens;
};

// True for words that D reserves and C does not: "string", "self", "counter".
bool is_word_of_d(std::string_view word);
// True if the word is a name in this place: a declarator, a member, a parameter, an enumerator or the size of an array.
bool is_name_of_c(const WordPlace& place);

}  // namespace dvm::compiler
