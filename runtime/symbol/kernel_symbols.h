#pragma once
// Resolves addresses of the kernel to modules and functions, by /proc/kallsyms. Consumer context.
//
// If the kernel hides addresses (kernel.kptr_restrict), kallsyms has zeros, and there are no symbols. There are no sizes either.
// An address belongs to the last symbol before it, unless it is beyond the end of the kernel or of the module.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/symbol/maps.h"

namespace dvm::runtime {

struct KernelSymbol {
  std::string_view module;  // vmlinux, or of a loadable module
  std::string_view function;
  uint64_t address = 0;
  uint64_t module_address = 0;  // of its first symbol
};

class KernelSymbols {
 public:
  // The files of this machine, read at the first call.
  static const KernelSymbols& of_this_kernel();
  // kallsyms, modules: the texts of these files in /proc.
  KernelSymbols(std::string kallsyms, std::string_view modules);

  bool is_hidden() const { return symbols_.empty(); }
  std::optional<KernelSymbol> find(uint64_t address) const;
  // The functions whose names begin with one of these words, by address.
  std::vector<AddressRange> functions_beginning(std::span<const std::string_view> words) const;

 private:
  struct AddressedName {
    uint64_t address = 0;
    std::string_view name;
    uint32_t module = 0;
    char type = 0;
  };
  struct Module {
    std::string_view name;
    AddressRange range;
  };
  void parse(std::string_view modules);
  void parse_line(std::string_view line);
  void limit_modules(std::string_view modules);
  void sort();

  std::string text_;  // the storage of the names
  std::vector<AddressedName> symbols_;
  std::vector<Module> modules_;
};

}  // namespace dvm::runtime
