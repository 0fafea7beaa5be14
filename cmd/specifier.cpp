// Clauses and declarations are told apart by their first characters only; the compiler reports what is wrong with them.
// Tested by tests/unit/cmd/specifier_test.cpp.
#include "cmd/specifier.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <optional>
#include <string_view>

#include "dvm/dif/probe_desc.h"

namespace dvm::cmd {
namespace {

constexpr std::string_view kBlanks = " \t\n";
constexpr std::string_view kWordCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";

struct Specifier {
  std::string_view text;
  size_t last;
};

// The fields of a description, from the last one that its option allows to the front. As in dtrace, the description may begin
// with one colon too many. Nothing: there are more.
std::optional<std::string> complete_fields(std::string_view text, size_t last) {
  const auto allowed = static_cast<std::ptrdiff_t>(last) + 1;
  const auto fields = static_cast<std::ptrdiff_t>(dif::split_fields(text).size());
  if (fields == allowed + 1 && text.starts_with(':'))
    text.remove_prefix(1);
  else if (fields > allowed)
    return {};
  return std::string(text) + std::string(static_cast<size_t>(4 - allowed), ':');
}

Result<std::string> complete_one(std::string_view description, const Specifier& given) {
  const auto wrong = [&](const std::string& why) {
    return Error{fmt::format("invalid probe specifier {}: {}", given.text, why)};
  };
  constexpr std::array<std::string_view, 3> kForms = {"providers", "modules", "functions"};
  if (description.empty()) return std::string();
  if (std::isdigit(static_cast<unsigned char>(description[0])))
    return wrong(fmt::format("probe identifier {} not permitted when specifying {}",
                             description.substr(0, description.find_first_not_of("0123456789")), kForms[given.last]));
  if (std::optional<std::string> all = complete_fields(description, given.last)) return std::move(*all);
  return wrong(fmt::format("invalid probe description \"{}\": Overspecified probe description", description));
}

// The descriptions of a clause, up to its predicate or its body.
Result<std::string> complete_list(std::string_view list, const Specifier& given) {
  std::string text;
  for (size_t at = 0, next = 0; at < list.size(); at = next) {  // blanks, a description, and what is between it and the next one
    const size_t begin = std::min(list.find_first_not_of(kBlanks, at), list.size());
    const size_t comma = std::min(dif::find_unquoted(list, ",", begin), list.size());
    const size_t stop = std::min(dif::find_unquoted(list, kBlanks, begin), comma);
    next = std::min(comma + 1, list.size());
    const Result<std::string> completed = complete_one(list.substr(begin, stop - begin), given);
    if (!completed) return completed.error();
    text.append(list, at, begin - at).append(*completed).append(list, stop, next - stop);
  }
  return text;
}

size_t behind(std::string_view text, std::string_view end, size_t from) {
  const size_t at = text.find(end, from);
  return at == std::string_view::npos ? text.size() : at + end.size();
}

// Behind a string, a character constant, a comment, or one other character.
size_t behind_token(std::string_view text, size_t at) {
  const char quote = text[at];
  if (text.substr(at, 2) == "/*") return behind(text, "*/", at + 2);
  if (quote != '"' && quote != '\'') return at + 1;
  for (at++; at < text.size() && text[at] != quote; at++)
    if (text[at] == '\\') at++;
  return std::min(at + 1, text.size());
}

// Behind the character that ends a clause ('}') or a declaration (';').
size_t behind_item(std::string_view text, size_t at, char last) {
  for (size_t depth = 0; at < text.size();) {
    const char c = text[at];
    at = behind_token(text, at);
    depth += c == '{' ? 1 : 0;
    depth -= c == '}' && depth > 0 ? 1 : 0;
    if (c == last && depth == 0) return at;
  }
  return at;
}

// Behind blanks, comments and lines of the preprocessor.
size_t behind_gap(std::string_view text, size_t at) {
  while (at < text.size()) {
    if (text.substr(at, 2) == "/*")
      at = behind_token(text, at);
    else if (text[at] == '#')
      at = behind(text, "\n", at);
    else if (kBlanks.find(text[at]) != std::string_view::npos)
      at++;
    else
      break;
  }
  return at;
}

// Behind the braces of a type without a name: the end of a declaration, or its first name. `struct` may be the name of a function
// too, and a clause may follow its clause.
bool continues_declaration(std::string_view text) {
  const size_t name = std::min(text.find_first_not_of(" \t\n*"), text.size());
  const size_t last = text.find_first_not_of(kWordCharacters, name);
  const size_t next = text.find_first_not_of(kBlanks, last);
  const size_t stop = dif::find_unquoted(text, "/{;", 0);
  return next < text.size() && std::string_view(";,[").find(text[next]) != std::string_view::npos && stop < text.size() &&
         text[stop] == ';';
}

// A declaration that may have braces before its semicolon.
bool begins_definition(std::string_view text) {
  constexpr std::array<std::string_view, 8> kWords = {"struct", "union",      "enum",     "typedef",
                                                      "inline", "translator", "provider", "const"};
  const size_t word = std::min(text.find_first_not_of(kWordCharacters), text.size());
  const size_t next = text.find_first_not_of(kBlanks, word);
  const auto named = std::find(kWords.begin(), kWords.end(), text.substr(0, word));
  if (named == kWords.end() || next == std::string_view::npos) return false;
  if (text[next] == '{' && named < kWords.begin() + 3) return continues_declaration(text.substr(behind_item(text, next, '}')));
  return next != word && std::string_view("{/,").find(text[next]) == std::string_view::npos;
}

}  // namespace

Result<std::string> complete_descriptions(std::string_view text, size_t last) {
  std::string all;
  for (size_t at = 0, next = 0; at < text.size(); at = next) {
    const size_t begin = behind_gap(text, at);
    const size_t end = std::min(dif::find_unquoted(text, "/{;", begin), text.size());
    const bool is_declaration = begins_definition(text.substr(begin)) || (end < text.size() && text[end] == ';');
    next = behind_item(text, is_declaration ? begin : end, is_declaration ? ';' : '}');
    all.append(text, at, begin - at);
    if (is_declaration) {
      all.append(text, begin, next - begin);
      continue;
    }
    const Result<std::string> list = complete_list(text.substr(begin, end - begin), {text, last});
    if (!list) return list.error();
    all.append(*list).append(text, end, next - end);
  }
  return all;
}

}  // namespace dvm::cmd
