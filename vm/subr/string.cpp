// Strings. Those that return a part of their argument return its address, without a copy. Covered by tests/conformance/subr.

#include <algorithm>
#include <cstring>

#include "vm/subr/subr.h"

namespace dvm::vm {

namespace {

// A copy of an argument with each character changed.
template <class Change>
uint64_t mapped(State& state, Change change) noexcept {
  const auto text = string_argument(state, 0);
  if (!text) return 0;
  std::byte* to = allocate_scratch(state, text->size() + 1);
  if (!to) return 0;
  char* at = std::transform(text->begin(), text->end(), reinterpret_cast<char*>(to), change);
  *at = '\0';
  return address_of(to);
}

// Positions are clamped, so that sums of two stay in range whatever the script passes.
int64_t clamped(int64_t position) {
  constexpr int64_t kFar = int64_t{1} << 40;
  return std::clamp(position, -kFar, kFar);
}

// The result of substr(): the characters from index to index + length. A negative index counts from the end; a negative length
// stops that many characters before the end.
std::string_view substring(std::string_view text, int64_t index, int64_t length) {
  const auto size = static_cast<int64_t>(text.size());
  if (index < 0) {
    index += size;
    if (index < 0 && index + length > 0) {
      length += index;
      index = 0;
    }
  }
  if (index < 0 || index >= size) return {};
  if (length < 0) length += size - index;
  return length <= 0 ? std::string_view{} : text.substr(static_cast<size_t>(index), static_cast<size_t>(length));
}

uint64_t found_or(size_t at, uint64_t otherwise) { return at == std::string_view::npos ? otherwise : at; }
constexpr uint64_t kNotFound = ~uint64_t{0};

// strtok()'s next token: the delimiters before it are skipped, the one after it is consumed.
std::optional<std::string_view> next_token(State& state, std::string_view delimiters) {
  StrtokState& strtok = state.strtok;
  const std::string_view text(strtok.text.data(), strtok.length);
  const size_t begin = text.find_first_not_of(delimiters, strtok.at);
  if (begin == std::string_view::npos) {
    state.is_tokenizing = false;
    return std::nullopt;
  }
  const size_t end = std::min(text.find_first_of(delimiters, begin), text.size());
  strtok.at = std::min(end + 1, text.size());
  return text.substr(begin, end - begin);
}

bool begin_strtok(State& state) noexcept {
  const auto text = string_argument(state, 0);
  if (!text) return false;
  StrtokState& strtok = state.strtok;
  strtok.length = std::min(text->size(), strtok.text.size());
  std::copy_n(text->begin(), strtok.length, strtok.text.begin());
  strtok.at = 0;
  state.is_tokenizing = true;
  return true;
}

// The address of a character that find(text, character) finds. As in C, the NUL at the end can be looked for too.
template <class Find>
uint64_t find_character(State& state, Find find) noexcept {
  const auto text = string_argument(state, 0);
  if (!text) return 0;
  const char wanted = static_cast<char>(argument(state, 1));
  const size_t at = wanted == '\0' ? text->size() : find(*text, wanted);
  return at == std::string_view::npos ? 0 : address_of(text->data() + at);
}

}  // namespace

uint64_t subr_strlen(State& state) noexcept {
  const auto text = string_argument(state, 0);
  return text ? text->size() : 0;
}

uint64_t subr_strjoin(State& state) noexcept {
  const auto left = string_argument(state, 0);
  const auto right = left ? string_argument(state, 1) : std::nullopt;
  if (!right) return 0;
  const size_t most = state.variables.strsize;
  const size_t left_size = std::min(left->size(), most);
  const size_t right_size = std::min(right->size(), most - left_size);
  std::byte* to = allocate_scratch(state, left_size + right_size + 1);
  if (!to) return 0;
  char* at = std::copy_n(left->begin(), left_size, reinterpret_cast<char*>(to));
  *std::copy_n(right->begin(), right_size, at) = '\0';
  return address_of(to);
}

uint64_t subr_strchr(State& state) noexcept {
  return find_character(state, [](std::string_view text, char wanted) { return text.find(wanted); });
}

uint64_t subr_strrchr(State& state) noexcept {
  return find_character(state, [](std::string_view text, char wanted) { return text.rfind(wanted); });
}

uint64_t subr_strstr(State& state) noexcept {
  const auto text = string_argument(state, 0);
  const auto part = text ? string_argument(state, 1) : std::nullopt;
  if (!part) return 0;
  const size_t at = text->find(*part);
  return at == std::string_view::npos ? 0 : address_of(text->data() + at);
}

// A negative position counts as 0; the empty part is found even past the end, there at the end.
uint64_t subr_index(State& state) noexcept {
  const auto text = string_argument(state, 0);
  const auto part = text ? string_argument(state, 1) : std::nullopt;
  if (!part) return 0;
  const int64_t position = argument_count(state) > 2 ? std::max<int64_t>(signed_argument(state, 2), 0) : 0;
  const size_t start = static_cast<size_t>(position);
  if (start >= text->size()) return part->empty() ? text->size() : kNotFound;
  return found_or(text->find(*part, start), kNotFound);
}

// A position past the end counts as the end; before the start nothing is found but the empty part, at 0.
uint64_t subr_rindex(State& state) noexcept {
  const auto text = string_argument(state, 0);
  const auto part = text ? string_argument(state, 1) : std::nullopt;
  if (!part) return 0;
  const bool has_position = argument_count(state) > 2;
  const int64_t position = has_position ? signed_argument(state, 2) : INT64_MAX;
  if (position < 0) return part->empty() ? 0 : kNotFound;
  return found_or(text->rfind(*part, static_cast<size_t>(position)), kNotFound);
}

uint64_t subr_substr(State& state) noexcept {
  const auto text = string_argument(state, 0);
  if (!text) return 0;
  const int64_t index = clamped(signed_argument(state, 1));
  const auto all = static_cast<int64_t>(state.variables.strsize);
  const int64_t length = argument_count(state) > 2 ? clamped(signed_argument(state, 2)) : all;
  return scratch_string(state, substring(*text, index, length));
}

uint64_t subr_strtok(State& state) noexcept {
  const auto delimiters = string_argument(state, 1);
  if (!delimiters) return 0;
  if (argument(state, 0) != 0 && !begin_strtok(state)) return 0;
  if (!state.is_tokenizing) return 0;
  const auto token = next_token(state, *delimiters);
  return token ? scratch_string(state, *token) : 0;
}

uint64_t subr_toupper(State& state) noexcept {
  return mapped(state, [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
}

uint64_t subr_tolower(State& state) noexcept {
  return mapped(state, [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
}

}  // namespace dvm::vm
