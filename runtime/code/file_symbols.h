#pragma once
// Functions in the symbol tables of a file. Files are untrusted: all reads are bounded. Consumer context.

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/code/frame_index.h"
#include "runtime/code/function_code.h"

namespace dvm::runtime {

class FileSymbols {
 public:
  // Takes the bytes of a whole ELF file, which must live longer.
  explicit FileSymbols(CodeBytes file);

  // The function with this name. Nothing: the file defines none.
  std::optional<FramedFunction> named(std::string_view name) const;
  // The last function that begins at an address of the file or before it.
  std::optional<FramedFunction> before(uint64_t address) const;
  // The section with code that contains an address.
  std::optional<FramedFunction> section_of(uint64_t address) const;
  // True if the address lies in a section with code. If the file has no sections, any address may.
  bool may_be_code(uint64_t address) const;

 private:
  struct Function {
    uint64_t address = 0, size = 0, name = 0;  // name: offset in the file
  };
  void read_functions(uint64_t symbols, uint64_t size, uint64_t names);

  CodeBytes file_;
  size_t read_ = 0;                   // symbols
  std::vector<Function> functions_;   // by address
  std::vector<FramedFunction> code_;  // sections with code
};

}  // namespace dvm::runtime
