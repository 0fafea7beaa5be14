#pragma once
// Finds the exits of functions with tail jumps, by the symbols and the unwind information of their file.

#include <optional>
#include <string>

#include "runtime/code/module_code.h"
#include "runtime/code/tail_exits.h"
#include "runtime/symbol/call_frames.h"
#include "runtime/symbol/elf.h"

namespace dvm::runtime {

class TailFinder {
 public:
  TailExits find(const std::string& path, const ModuleCode& code, const FunctionExtent& function);
  // True if the stack pointer leads to the return address before the instruction at the offset in the file.
  bool is_as_entered(const std::string& path, uint64_t offset);

 private:
  std::optional<FunctionExtent> function_around(const std::string& path, const ModuleCode& code, uint64_t offset);

  ElfCache elfs_;
  CallFramesCache frames_;
};

}  // namespace dvm::runtime
