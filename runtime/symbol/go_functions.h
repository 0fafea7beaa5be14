#pragma once
// The table of functions that Go's linker writes into a program (.gopclntab), in the format of Go 1.18 and later. It shows which
// functions were written in assembly. The table is untrusted.

#include <cstdint>
#include <optional>

#include "runtime/code/function_code.h"

namespace dvm::runtime {

class GoFunctions {
 public:
  // text: the address of runtime.text. Nothing: the file has no such table, or one of another format.
  static std::optional<GoFunctions> read(CodeBytes file, uint64_t text);

  enum class Maker : uint8_t { unknown, compiler, assembler };
  // The maker of the function that begins at this address of the file.
  Maker maker_of(uint64_t address) const;

 private:
  CodeBytes table_;
  uint64_t text_ = 0;
  uint64_t functions_ = 0;  // offset of the functions in the table
  uint64_t count_ = 0;
  uint64_t flag_at_ = 0;  // offset of the flag in the description of each function
};

}  // namespace dvm::runtime
