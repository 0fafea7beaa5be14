#pragma once
// Programs made by Go's compiler: which functions in them are Go's, and where those are passed their arguments.
//
//   registers  since Go 1.17: integer words in %rax %rbx %rcx %rdi %rsi %r8 %r9 %r10 %r11, then from 8(%rsp) on; results in the
//              same registers. %r14 has the goroutine
//   stack      before that, and functions written in assembly (f.abi0): all from 8(%rsp) on, the results behind the arguments
//   none       no function of Go, as those of C that cgo has added
//
// argN of a Go function is word N in that order. Everything in the file is untrusted.

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
  // None: the file is no program of Go.
  static std::optional<GoProgram> read(const ModuleCode& file, const ElfObject& elf);

  GoAbi abi_of(const ElfFunction& function) const;
  // Of "go1.19.8" 19; 0: not known.
  unsigned version() const { return version_; }

 private:
  unsigned version_ = 0;
  uint64_t begin_ = 0, end_ = UINT64_MAX;  // addresses of the file: beyond them is none of Go's code
};

// arg0 to arg9 at the entry; of a return arg1 on, the results. On the stack no results are known.
Operands go_arguments(GoAbi abi, bool is_return);

}  // namespace dvm::runtime
