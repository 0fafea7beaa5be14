#pragma once
// The ways out of functions that leave by jumps to others, by what symbols and unwinders know of their file.
// Covered by tests/runtime/scenarios/test_agent_tails.py.

#include <map>
#include <memory>
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

 private:
  std::optional<FunctionExtent> function_at(const std::string& path, const ModuleCode& code, uint64_t offset);
  bool is_as_entered(const std::string& path, uint64_t offset);

  ElfCache elfs_;
  std::map<std::string, std::unique_ptr<CallFrames>> frames_;  // by path; null: it has no such information
};

}  // namespace dvm::runtime
