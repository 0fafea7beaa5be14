#pragma once
// The words of D with their documentation, from the tables of variables, subroutines, actions, aggregating functions and options.

#include <string>
#include <string_view>
#include <vector>

namespace dvm::cmd::lsp {

// The numbers of CompletionItemKind in the protocol.
enum class WordKind { function = 3, variable = 6, property = 10, keyword = 14, constant = 21, structure = 22 };

struct LanguageWord {
  std::string name;
  WordKind kind = WordKind::variable;
  std::string detail;  // its type, or how it is called
  std::string text;    // what it is; why it is refused, if it is
};

const std::vector<LanguageWord>& words();    // of predicates and clauses
const std::vector<LanguageWord>& options();  // of #pragma D option

// Null: it has no such word.
const LanguageWord* find_word(const std::vector<LanguageWord>& words, std::string_view name);

}  // namespace dvm::cmd::lsp
