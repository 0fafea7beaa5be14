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

// The word that a text begins with behind comments.
std::string_view first_word(std::string_view text) {
  for (text = skip_blanks(text); text.starts_with("/*"); text = skip_blanks(text))
    text.remove_prefix(std::min(text.find("*/", 2), text.size() - 2) + 2);
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

bool is_member(std::string_view before) { return before.ends_with("->") || before.ends_with('.') || before.ends_with('`'); }

// The second argument of offsetof(); what is before it is given.
bool is_in_offsetof(std::string_view before) {
  const size_t open = before.find_last_of("();");
  return open != std::string_view::npos && before[open] == '(' && before.find(',', open) != std::string_view::npos &&
         ends_with_word(before.substr(0, open), "offsetof");
}

// "self->" or "this->" with blanks around the arrow, where it ends a text; empty: it does not.
std::string_view scope_at_end(std::string_view text) {
  if (!text.ends_with("->")) return "";
  text.remove_suffix(2);
  return ends_with_word(text, "self") ? "self->" : ends_with_word(text, "this") ? "this->" : "";
}

// Finds the scope in "self int x, y[int];", which declares self->x and self->y. Empty: the word at the end declares no such
// variable.
std::string_view declared_scope(std::string_view text, const Cursor& cursor, size_t begin, size_t end) {
  const std::string_view scope = first_word(text.substr(cursor.clause));
  if (scope != "self" && scope != "this") return "";
  const std::string_view before = text.substr(cursor.clause, begin - cursor.clause), behind = skip_blanks(text.substr(end));
  const bool in_key = std::count(before.begin(), before.end(), '[') > std::count(before.begin(), before.end(), ']');
  if (in_key || behind.empty() || std::string_view(";,[").find(behind[0]) == std::string_view::npos) return "";
  return scope == "self" ? "self->" : "this->";
}

std::string_view tag_keyword(std::string_view before) {
  for (const std::string_view keyword : {"struct", "union", "enum"})
    if (ends_with_word(before, keyword)) return keyword;
  return "";
}

bool is_outside(const Cursor& cursor) { return cursor.context == CursorContext::description; }

// Whether it means the name at all.
bool means(std::string_view text, const Cursor& cursor, size_t begin, size_t end) {
  if (cursor.context == CursorContext::nothing || cursor.context == CursorContext::pragma) return false;
  if (is_outside(cursor)) return !is_in_description(text, begin, end);
  return !is_in_type(text, cursor) && !is_translated(text, cursor, begin);
}

size_t end_in(std::string_view text, std::string_view word) {
  return static_cast<size_t>(word.data() - text.data()) + word.size();
}

// The name that a word of the text means: "x", "self->x", "@x" or "struct x"; empty: none of a script.
std::string meant(std::string_view text, const Cursor& cursor, std::string_view word) {
  const size_t end = end_in(text, word), begin = end - word.size();
  const std::string_view before = drop_blanks(text.substr(0, begin));
  const std::string spelled(word);
  if (const std::string_view keyword = tag_keyword(before); !keyword.empty() && cursor.context != CursorContext::nothing)
    return std::string(keyword) + ' ' + spelled;
  if (!means(text, cursor, begin, end) || is_in_offsetof(before)) return "";
  if (bare_name(word).size() != word.size()) return spelled;
  if (is_outside(cursor)) return std::string(declared_scope(text, cursor, begin, end)) + spelled;
  if (const std::string_view scope = scope_at_end(before); !scope.empty()) return std::string(scope) + spelled;
  return is_member(before) ? "" : spelled;
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

bool declares(std::string_view text, const Cursor& cursor, std::string_view name, size_t end) {
  const std::string_view behind = text.substr(end);
  if (name.find(' ') != std::string_view::npos) return skip_blanks(behind).starts_with('{');
  return is_outside(cursor) || is_stored(behind);
}

}  // namespace

std::string_view bare_name(std::string_view name) {
  for (const std::string_view scope : {"self->", "this->", "@", "struct ", "union ", "enum "})
    if (name.starts_with(scope)) name.remove_prefix(scope.size());
  return name;
}

bool is_identifier(std::string_view name) {
  return !name.empty() && is_letter(name[0]) && std::all_of(name.begin(), name.end(), [](char c) {
    return is_letter(c) || std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
}

std::vector<Occurrence> occurrences(std::string_view text, std::string_view name) {
  std::vector<std::string_view> words;
  std::vector<size_t> ends;
  for (const std::string_view word : code_words(text)) {
    if (bare_name(word) != bare_name(name)) continue;
    words.push_back(word);
    ends.push_back(end_in(text, word));
  }
  const std::vector<Cursor> cursors = look_at_all(text, ends);
  std::vector<Occurrence> all;
  for (size_t i = 0; i < words.size(); i++) {
    if (meant(text, cursors[i], words[i]) != name) continue;
    const size_t size = bare_name(words[i]).size();
    all.push_back({ends[i] - size, size, declares(text, cursors[i], name, ends[i])});
  }
  return all;
}

size_t directive_with(std::string_view text, std::string_view name) {
  std::vector<size_t> ends;
  for (const std::string_view word : code_words(text))
    if (bare_name(word) == bare_name(name)) ends.push_back(end_in(text, word));
  const std::vector<Cursor> cursors = look_at_all(text, ends);
  for (size_t i = 0; i < ends.size(); i++)
    if (cursors[i].context == CursorContext::nothing)
      return 1 + static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(ends[i]), '\n'));
  return 0;
}

std::string name_at(std::string_view text, size_t offset) {
  const std::string_view word = word_at(text, offset);
  return word.empty() ? "" : meant(text, look_at(text, end_in(text, word)), word);
}

const Occurrence* declaration(std::string_view text, const std::vector<Occurrence>& all) {
  const auto is_translator = [&](const Occurrence& one) { return ends_with_word(text.substr(0, one.begin), "translator"); };
  auto found = std::find_if(all.begin(), all.end(), is_translator);
  if (found == all.end()) found = std::find_if(all.begin(), all.end(), [](const Occurrence& one) { return one.declares; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace dvm::cmd::lsp
