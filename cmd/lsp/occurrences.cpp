// Tested by tests/unit/cmd/occurrences_test.cpp.

#include "cmd/lsp/occurrences.h"

#include <algorithm>
#include <cctype>

#include "cmd/lsp/document.h"

namespace dvm::cmd::lsp {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view skip_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  return text;
}
std::string_view drop_blanks(std::string_view text) { return text.substr(0, text.find_last_not_of(kBlanks) + 1); }

// The word that a text begins or ends with.
std::string_view first_word(std::string_view text) {
  text = skip_blanks(text);
  const auto end = std::find_if_not(text.begin(), text.end(), [](char c) { return is_letter(c); });
  return text.substr(0, static_cast<size_t>(end - text.begin()));
}
bool ends_with_word(std::string_view text, std::string_view word) {
  text = drop_blanks(text);
  if (!text.ends_with(word)) return false;
  text.remove_suffix(word.size());
  return text.empty() || !is_letter(text.back());
}

// What stands before the body of a declaration that the cursor is in.
bool is_in_type(std::string_view text, const Cursor& cursor) {
  if (cursor.body == 0) return false;
  const std::string_view word = first_word(text.substr(cursor.clause));
  return word == "struct" || word == "union" || word == "enum" || word == "typedef";
}
// A member on the left of its = in a translator.
bool is_translated(std::string_view text, const Cursor& cursor, size_t begin) {
  return cursor.body != 0 && first_word(text.substr(cursor.clause)) == "translator" &&
         skip_blanks(text.substr(cursor.statement)).data() == text.data() + begin;
}

// Part of provider:module:function:name.
bool is_in_description(std::string_view text, size_t begin, size_t end) {
  constexpr std::string_view kEnds = " \t\r\n,;{}()/=";
  const size_t before = text.find_last_of(kEnds, begin);
  const size_t from = before == std::string_view::npos || begin == 0 ? 0 : before + 1;
  const std::string_view token = text.substr(from, text.find_first_of(kEnds, end) - from);
  return token.find(':') != std::string_view::npos;
}

bool is_member(std::string_view text, size_t begin) {
  const std::string_view before = drop_blanks(text.substr(0, begin));
  return before.ends_with("->") || before.ends_with('.') || before.ends_with('`');
}

bool is_outside(const Cursor& cursor) { return cursor.context == CursorContext::description; }

// Whether it means the name at all.
bool means(std::string_view text, const Cursor& cursor, size_t begin, size_t end) {
  if (cursor.context == CursorContext::nothing || cursor.context == CursorContext::pragma) return false;
  if (is_outside(cursor)) return !is_in_description(text, begin, end);
  return !is_in_type(text, cursor) && !is_translated(text, cursor, begin);
}

// x = 1, and x[1] = 2, of which the bracket is skipped.
bool is_stored(std::string_view behind) {
  behind = skip_blanks(behind);
  if (!behind.starts_with('[')) return is_assigned(behind);
  size_t depth = 0;
  for (size_t at = 0; at < behind.size(); at++) {
    if (behind[at] == '[') depth++;
    if (behind[at] == ']' && --depth == 0) return is_assigned(behind.substr(at + 1));
  }
  return false;
}

}  // namespace

std::string_view bare_name(std::string_view name) {
  for (const std::string_view scope : {"self->", "this->", "@"})
    if (name.starts_with(scope)) name.remove_prefix(scope.size());
  return name;
}

bool is_identifier(std::string_view name) {
  return !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), [](char c) {
    return is_letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
}

std::vector<Occurrence> occurrences(std::string_view text, std::string_view name) {
  std::vector<Occurrence> all;
  const bool is_scoped = bare_name(name).size() != name.size();
  for (const std::string_view word : code_words(text)) {
    if (word != name) continue;
    const auto begin = static_cast<size_t>(word.data() - text.data()), end = begin + word.size();
    if (!is_scoped && is_member(text, begin)) continue;
    const Cursor cursor = look_at(text, end);
    if (!means(text, cursor, begin, end)) continue;
    const size_t size = bare_name(word).size();
    all.push_back({end - size, size, (!is_scoped && is_outside(cursor)) || is_stored(text.substr(end))});
  }
  return all;
}

const Occurrence* declaration(std::string_view text, const std::vector<Occurrence>& all) {
  const auto is_translator = [&](const Occurrence& one) { return ends_with_word(text.substr(0, one.begin), "translator"); };
  auto found = std::find_if(all.begin(), all.end(), is_translator);
  if (found == all.end()) found = std::find_if(all.begin(), all.end(), [](const Occurrence& one) { return one.declares; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace dvm::cmd::lsp
