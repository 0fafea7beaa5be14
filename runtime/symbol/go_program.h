#pragma once
// Programs made by Go's compiler: which functions are Go functions, and where their arguments are.
//
// - registers  since Go 1.17: integer words in %rax %rbx %rcx %rdi %rsi %r8 %r9 %r10 %r11, then from 8(%rsp) on; results in the
//              same registers. %r14 has the goroutine
// - stack      before that, and functions written in assembly (f.abi0): all from 8(%rsp) on, the results behind the arguments
// - none       not a Go function: one of the C functions that cgo has added
//
// argN of a Go function is word N in that order. The file is untrusted.

#include <cstdint>
#include <optional>

#include "runtime/catalog/operand.h"
#include "runtime/code/module_code.h"
#include "runtime/symbol/elf.h"

namespace dvm::runtime {

enum class GoAbi : uint8_t { none, stack, registers };

inline constexpr unsigned kGoRegisters = 9;

class GoProgram {
 public:
  // Nothing: the file is not a Go program.
  static std::optional<GoProgram> read(const ModuleCode& file, const ElfObject& elf);

  GoAbi abi_of(const ElfFunction& function) const;
  // The minor version, 19 for "go1.19.8"; 0: not known.
  unsigned version() const { return version_; }
  // The address of runtime.text, the base of addresses in Go's tables. Nothing: there is no such symbol.
  std::optional<uint64_t> text() const { return begin_ != 0 ? std::optional(begin_) : std::nullopt; }

 private:
  unsigned version_ = 0;
  uint64_t begin_ = 0, end_ = UINT64_MAX;  // addresses of the file, between which all Go code lies
};

// arg0 to arg9 at the entry; at a return the results, from arg1 on. Results on the stack are not available.
Operands go_arguments(GoAbi abi, bool is_return);

}  // namespace dvm::runtime
