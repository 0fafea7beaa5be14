#pragma once
// Finds the functions of a file that the function field of a description matches: by the symbol or, if none matches, by the
// demangled name. A glob takes one name for each address.

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/symbol/elf.h"

namespace dvm::runtime {

// Functions with one name: nearly always one.
struct ChosenFunction {
  std::string_view name;
  std::string demangled;
  std::vector<const ElfFunction*> places;  // best first
};

class ChosenFunctions {
 public:
  void add(const ElfFunction& function, std::string demangled = "");
  // True if the last added function has the same address. Functions are sorted by address, the best name first, so the first
  // match is taken.
  bool has_address_of(const ElfFunction& function) const { return last_ != nullptr && last_->address == function.address; }
  bool has_address(uint64_t address) const;
  bool empty() const { return chosen_.empty(); }
  const std::vector<ChosenFunction>& all() const { return chosen_; }

 private:
  std::unordered_map<std::string_view, size_t> by_name_;
  std::vector<ChosenFunction> chosen_;
  const ElfFunction* last_ = nullptr;
};

// A pattern with wildcards chooses pieces of C++ and Rust functions (f.cold) only if it names them. `indirect` receives the
// matching indirect functions (runtime/symbol/indirect.h).
ChosenFunctions choose_functions(const ElfObject& elf, std::string_view pattern, std::vector<const ElfFunction*>& indirect);
// Pieces of functions (f.cold) are left out, because they would count a call twice under the function's name. Slow: demangles
// every name.
ChosenFunctions choose_demangled(const ElfObject& elf, std::string_view pattern);

}  // namespace dvm::runtime
