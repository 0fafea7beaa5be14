#pragma once
// Which functions of a file a description's function field means: by the raw name or, where none has it, by the demangled one. A
// glob takes one name of each address.

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
  std::vector<const ElfFunction*> places;  // the first is the best
};

class ChosenFunctions {
 public:
  void add(const ElfFunction& function, std::string demangled = "");
  // Functions are sorted by address, the best name first: the first that matched is the one to take.
  bool has_address_of(const ElfFunction& function) const { return last_ != nullptr && last_->address == function.address; }
  bool has_address(uint64_t address) const;
  bool empty() const { return chosen_.empty(); }
  const std::vector<ChosenFunction>& all() const { return chosen_; }

 private:
  std::unordered_map<std::string_view, size_t> by_name_;
  std::vector<ChosenFunction> chosen_;
  const ElfFunction* last_ = nullptr;
};

// `indirect` receives the functions that match the pattern but are called through a choice at run time
// (runtime/symbol/indirect.h).
ChosenFunctions choose_functions(const ElfObject& elf, std::string_view pattern, std::vector<const ElfFunction*>& indirect);
// Pieces of functions are left out, since they would count a call twice under the function's name. Demangling every name is slow.
ChosenFunctions choose_demangled(const ElfObject& elf, std::string_view pattern);

}  // namespace dvm::runtime
