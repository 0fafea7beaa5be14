// The words of __attribute__((...)). Tests: tests/runtime/types (tst.attributes.d), tests/golden/sema (err.D_DECL_ATTR.*.d).
#include "compiler/parse/attributes.h"

#include <cctype>

namespace dvm::compiler {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

// "__packed__" is "packed".
std::string_view plain(std::string_view word) {
  const bool has_marks = word.size() > 4 && word.starts_with("__") && word.ends_with("__");
  return has_marks ? word.substr(2, word.size() - 4) : word;
}

// Removes the parentheses at the beginning, and returns their content. Empty: there are none.
std::string_view take_argument(std::string_view& text) {
  text = trim(text);
  if (!text.starts_with('(')) return {};
  size_t at = 0, depth = 0;
  do depth += text[at] == '(', depth -= text[at] == ')', at++;
  while (depth > 0 && at < text.size());
  const std::string_view argument = trim(text.substr(1, at - 2));
  text.remove_prefix(at);
  return argument;
}

// Calls found(word, argument) for each attribute.
template <class Found>
void for_each(std::string_view token, Found found) {
  std::string_view text = token.substr(token.find('('));
  text = take_argument(text);
  if (text.starts_with('(')) text = take_argument(text);
  while (!text.empty()) {
    size_t end = 0;
    while (end < text.size() && is_word(text[end])) end++;
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(end == 0 ? 1 : end);
    if (end != 0) found(plain(word), take_argument(text));
  }
}

}  // namespace

bool changes_layout(std::string_view attribute) {
  bool changes = false;
  for_each(attribute, [&](std::string_view word, std::string_view) {
    changes = changes || word == "packed" || word == "aligned" || word == "vector_size";
  });
  return changes;
}

void add_attributes(std::string_view attribute, Location where, LayoutAttributes& to) {
  to.where = where;
  for_each(attribute, [&](std::string_view word, std::string_view argument) {
    to.is_packed |= word == "packed";
    if (word == "aligned") to.alignments.emplace_back(argument);
    if (word == "vector_size") to.vector_size = argument;
  });
}

}  // namespace dvm::compiler
