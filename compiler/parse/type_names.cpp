// The names of types that the parser knows. Tests: tests/golden/sema.
#include "compiler/parse/type_names.h"

#include <charconv>

#include "compiler/types/type_table.h"

namespace dvm::compiler {

TypeNames::TypeNames(std::span<const std::string> arguments) : arguments_(arguments) {
  for (const auto& name : TypeTable::standard_names()) add(name);
}

bool TypeNames::contains(std::string_view word) const {
  if (!word.starts_with('$')) return names_.contains(word);
  size_t number = 0;
  const auto [end, error] = std::from_chars(word.data() + 1, word.data() + word.size(), number);
  if (error != std::errc() || end != word.data() + word.size() || number >= arguments_.size()) return false;
  return names_.contains(word) || names_.contains(arguments_[number]);
}

}  // namespace dvm::compiler
