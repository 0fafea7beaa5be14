#pragma once
// Constants in registers at each instruction of a function, whichever way leads there:
//
//   mov $202, %r9d      loaded before a loop
//   1: ...
//   mov %r9d, %eax      here it is 202
//
// Consumer context.

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "runtime/code/function_code.h"
#include "runtime/code/operated.h"

namespace dvm::runtime {

class ConstantFlow {
 public:
  ConstantFlow(CodeBytes function, const FunctionCode& code);

  // The lower 32 bits of a register when the instruction at the offset begins. Nothing: they are not certain, also if a jump of
  // the function may lead anywhere.
  std::optional<uint32_t> at(uint64_t offset, ZydisRegister reg) const;

 private:
  // By the number of the register; the last is the word that the instruction before has pushed.
  static constexpr size_t kPushed = 16;
  using Constants = std::array<std::optional<uint32_t>, kPushed + 1>;

  void forget_between_blocks();
  void follow(size_t first);
  void leave(size_t index);
  void enter(size_t index, const Constants& with);
  void enter_target(int64_t target, const Constants& with);
  static void run(const Operated& one, Constants& constants);
  static std::optional<uint32_t> made_by(const Operated& one, const Constants& constants);
  static std::optional<size_t> number_of(ZydisRegister reg);

  CodeBytes function_;
  const FunctionCode& code_;
  std::vector<std::optional<Constants>> before_;  // each instruction; nothing: no way leads there
  std::vector<size_t> waiting_;                   // instructions to be followed again
  size_t left_ = 0;                               // steps; 0: there were too many, and nothing is certain
};

}  // namespace dvm::runtime
