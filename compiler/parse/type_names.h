#pragma once
// Names of types: whether a word is one decides how D is parsed.

#include <set>
#include <span>
#include <string>
#include <string_view>

namespace dvm::compiler {

// The names that are known so far. Those of one file hold in the next.
class TypeNames {
 public:
  // The standard ones. Arguments of the command line that name a type do so as $1 too.
  explicit TypeNames(std::span<const std::string> arguments = {});
  void add(std::string_view name) { names_.emplace(name); }
  bool contains(std::string_view word) const;
  // What could be a probe description or the type of a declaration is a description: option pspec.
  bool prefer_probes = false;

 private:
  std::set<std::string, std::less<>> names_;
  std::span<const std::string> arguments_;
};

}  // namespace dvm::compiler
