// The names of types that the parser knows. Tests: tests/golden/sema.
#include "compiler/parse/type_names.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "compiler/types/type_table.h"

namespace dvm::compiler {

namespace {

// Also one with a scope: libc`environ.
bool is_name(std::string_view text) {
  return !text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '`'; });
}

}  // namespace

TypeNames::TypeNames(std::span<const std::string> arguments) : arguments_(arguments) {
  for (const auto& name : TypeTable::standard_names()) add(name);
}

std::optional<size_t> TypeNames::argument_of(std::string_view macro) const {
  size_t number = 0;
  const auto [end, error] = std::from_chars(macro.data() + 1, macro.data() + macro.size(), number);
  if (error != std::errc() || end != macro.data() + macro.size() || number >= arguments_.size()) return {};
  return number;
}

bool TypeNames::contains(std::string_view word) const {
  if (!word.starts_with('$')) return names_.contains(word);
  const std::optional<size_t> number = argument_of(word);
  return number && (names_.contains(word) || names_.contains(arguments_[*number]));
}

std::string_view TypeNames::use_argument_name(std::string_view macro) {
  const std::optional<size_t> number = argument_of(macro);
  if (!number || !is_name(arguments_[*number])) return {};
  used_arguments_.insert(*number);
  return arguments_[*number];
}

}  // namespace dvm::compiler
