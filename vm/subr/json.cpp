// json(text, "name.name[3].name"): the text of an element, a string without its quotes and with its escapes as they are, anything
// else as written. Arrays and objects on the way are skipped over, never built; text that was cut short behind the element does
// no harm. Covered by tests/conformance/subr.

#include <algorithm>

#include "vm/subr/subr.h"

namespace dvm::vm {

namespace {

constexpr size_t kNone = std::string_view::npos;

void skip_space(std::string_view& text) { text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size())); }

bool take(std::string_view& text, char wanted) {
  skip_space(text);
  if (!text.starts_with(wanted)) return false;
  text.remove_prefix(1);
  return true;
}

bool all_of(std::string_view text, std::string_view allowed) { return text.find_first_not_of(allowed) == kNone; }

constexpr std::string_view kHexDigits = "0123456789abcdefABCDEF";

bool is_literal(std::string_view text) {
  return text == "true" || text == "false" || text == "null" || all_of(text, "0123456789+-.eE");
}

// Length of the string at the start of text, both quotes included; kNone when it does not end.
size_t string_length(std::string_view text) {
  for (size_t at = 1; at < text.size(); at++) {
    if (text.substr(at, 2) == "\\u" && !all_of(text.substr(at + 2, 4), kHexDigits)) return kNone;
    if (text[at] == '\\')
      at++;
    else if (text[at] == '"')
      return at + 1;
  }
  return kNone;
}

size_t nested_length(std::string_view text) {
  size_t depth = 0;
  for (size_t at = 0; at < text.size(); at++) {
    const char c = text[at];
    if (c == '"') {
      const size_t length = string_length(text.substr(at));
      if (length == kNone) return kNone;
      at += length - 1;
    } else if (c == '{' || c == '[') {
      depth++;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return at + 1;
    }
  }
  return kNone;
}

// Takes the value at the start of text; nothing when it is not JSON.
std::optional<std::string_view> take_value(std::string_view& text) {
  skip_space(text);
  if (text.empty()) return std::nullopt;
  const char c = text.front();
  size_t length = std::min(text.find_first_of(",]} \t\r\n"), text.size());
  if (c == '"') length = string_length(text);
  if (c == '{' || c == '[') length = nested_length(text);
  if (length == kNone || length == 0) return std::nullopt;
  const std::string_view value = text.substr(0, length);
  if (c != '"' && c != '{' && c != '[' && !is_literal(value)) return std::nullopt;
  text.remove_prefix(length);
  return value;
}

// The text from a member's value on.
std::optional<std::string_view> member(std::string_view object, std::string_view wanted) {
  if (!take(object, '{')) return std::nullopt;
  do {
    const auto name = take_value(object);
    if (!name || name->front() != '"' || !take(object, ':')) return std::nullopt;
    if (name->substr(1, name->size() - 2) == wanted) return object;
    if (!take_value(object)) return std::nullopt;
  } while (take(object, ','));
  return std::nullopt;
}

// The text from an element on.
std::optional<std::string_view> element(std::string_view array, size_t wanted) {
  if (!take(array, '[')) return std::nullopt;
  do {
    if (wanted-- == 0) return array;
    if (!take_value(array)) return std::nullopt;
  } while (take(array, ','));
  return std::nullopt;
}

std::optional<size_t> index_of(std::string_view digits) {
  if (digits.empty() || digits.size() > 9 || !all_of(digits, "0123456789")) return std::nullopt;
  size_t index = 0;
  for (const char c : digits) index = index * 10 + static_cast<size_t>(c - '0');
  return index;
}

// Takes "[number]" from the start of a path.
std::optional<size_t> take_index(std::string_view& path) {
  const size_t end = path.find(']');
  if (end == kNone) return std::nullopt;
  const auto index = index_of(path.substr(1, end - 1));
  path.remove_prefix(end + 1);
  return index;
}

// One step of the path into the value that a text begins with; an element of an array is named by [3] or 3.
std::optional<std::string_view> step(std::string_view value, std::string_view& path) {
  skip_space(value);
  if (path.front() == '[') {
    const auto index = take_index(path);
    return index ? element(value, *index) : std::nullopt;
  }
  if (path.front() == '.') path.remove_prefix(1);
  const size_t end = std::min(path.find_first_of(".["), path.size());
  const std::string_view name = path.substr(0, end);
  path.remove_prefix(end);
  if (!value.starts_with('[')) return member(value, name);
  const auto index = index_of(name);
  return index ? element(value, *index) : std::nullopt;
}

}  // namespace

uint64_t subr_json(State& state) noexcept {
  const auto text = string_argument(state, 0);
  const auto whole_path = text ? string_argument(state, 1) : std::nullopt;
  if (!whole_path) return 0;
  std::string_view path = *whole_path;
  std::optional<std::string_view> rest = *text;
  while (rest && !path.empty()) rest = step(*rest, path);
  std::optional<std::string_view> value = rest ? take_value(*rest) : std::nullopt;
  if (!value) return 0;
  if (value->starts_with('"')) value = value->substr(1, value->size() - 2);
  return scratch_string(state, *value);
}

}  // namespace dvm::vm
