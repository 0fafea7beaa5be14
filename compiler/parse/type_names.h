#pragma once
// Names of types. The parse of D depends on whether a word is one.

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace dvm::compiler {

// The names that are known so far. Names from one file are known in the next.
class TypeNames {
 public:
  // Starts with the standard types. If an argument of the command line is the name of a type, its macro ($1) is one too.
  explicit TypeNames(std::span<const std::string> arguments = {});
  void add(std::string_view name) { names_.emplace(name); }
  bool contains(std::string_view word) const;
  // The argument that a macro ($1) stands for, if it is a name; that argument is used then. Otherwise empty.
  std::string_view use_argument_name(std::string_view macro);
  // The arguments that were used since the last call.
  std::set<size_t> take_used_arguments() { return std::exchange(used_arguments_, {}); }
  // Option pspec: a word that could begin a declaration or a probe description begins a probe description.
  bool prefer_probes = false;

 private:
  std::optional<size_t> argument_of(std::string_view macro) const;

  std::set<std::string, std::less<>> names_;
  std::span<const std::string> arguments_;
  std::set<size_t> used_arguments_;
};

}  // namespace dvm::compiler
