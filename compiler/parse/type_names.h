#pragma once
// Names of types. The parse of D depends on whether a word is one.

#include <set>
#include <span>
#include <string>
#include <string_view>

namespace dvm::compiler {

// The names that are known so far. Names from one file are known in the next.
class TypeNames {
 public:
  // Starts with the standard types. If an argument of the command line is the name of a type, its macro ($1) is one too.
  explicit TypeNames(std::span<const std::string> arguments = {});
  void add(std::string_view name) { names_.emplace(name); }
  bool contains(std::string_view word) const;
  // Option pspec: a word that could begin a declaration or a probe description begins a probe description.
  bool prefer_probes = false;

 private:
  std::set<std::string, std::less<>> names_;
  std::span<const std::string> arguments_;
};

}  // namespace dvm::compiler
