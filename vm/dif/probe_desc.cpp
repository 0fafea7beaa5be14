// Splitting and joining probe descriptions. Tests: tests/unit/vm/probe_desc_test.cpp.
#include "dvm/dif/probe_desc.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

namespace dvm::dif {

namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

}  // namespace

size_t find_unquoted(std::string_view text, std::string_view characters, size_t from) {
  bool is_quoted = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(from), '"') % 2 != 0;
  for (size_t i = from; i < text.size(); i++) {
    is_quoted ^= text[i] == '"';
    if (!is_quoted && characters.find(text[i]) != std::string_view::npos) return i;
  }
  return std::string_view::npos;
}

std::vector<std::string_view> split_fields(std::string_view text) {
  std::vector<std::string_view> fields;
  size_t begin = 0;
  for (size_t colon = find_unquoted(text, ":"); colon != std::string_view::npos; colon = find_unquoted(text, ":", begin)) {
    fields.push_back(text.substr(begin, colon - begin));
    begin = colon + 1;
  }
  fields.push_back(text.substr(begin));
  return fields;
}

std::string unquoted(std::string_view field) {
  std::string text(field);
  std::erase(text, '"');
  return text;
}

std::string quoted(std::string_view field) {
  const bool needs_quotes = field.find_first_of(":,<>(){}/;&|=#'\" \t") != std::string_view::npos;
  return needs_quotes ? fmt::format("\"{}\"", field) : std::string(field);
}

std::optional<ProbeDesc> parse_probe_desc(std::string_view text) {
  const std::vector<std::string_view> fields = split_fields(text);
  ProbeDesc desc;
  std::string* const names[] = {&desc.name, &desc.function, &desc.module, &desc.provider};
  if (fields.size() > std::size(names)) return {};
  for (size_t i = 0; i < fields.size(); i++) *names[i] = unquoted(fields[fields.size() - 1 - i]);
  return desc;
}

std::string spell(const ProbeDesc& d) {
  return fmt::format("{}:{}:{}:{}", quoted(d.provider), quoted(d.module), quoted(d.function), quoted(d.name));
}

std::optional<std::string> expand_macros(std::string_view text, const MacroValue& value) {
  std::string expanded;
  size_t done = 0;
  for (size_t at = find_unquoted(text, "$"); at != std::string_view::npos; at = find_unquoted(text, "$", done)) {
    const std::string_view rest = text.substr(at + 1);
    const auto in_name = !rest.empty() && is_digit(rest[0]) ? is_digit : is_word;
    const auto name = rest.substr(0, static_cast<size_t>(std::find_if_not(rest.begin(), rest.end(), in_name) - rest.begin()));
    const auto part = name.empty() ? std::optional<std::string>("$") : value(name, at);
    if (!part) return {};
    expanded += text.substr(done, at - done);
    expanded += *part;
    done = at + 1 + name.size();
  }
  return expanded + std::string(text.substr(done));
}

}  // namespace dvm::dif
