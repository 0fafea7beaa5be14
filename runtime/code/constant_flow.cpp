// Covered by tests/unit/code/system_call_finder_test.cpp.

#include "runtime/code/constant_flow.h"

#include <algorithm>

namespace dvm::runtime {
namespace {

constexpr size_t kMostEntries = 64;  // for each instruction

// Those that a function may change for its caller: %rax, %rcx, %rdx, %rsi, %rdi, %r8 to %r11.
constexpr size_t kChangedByCalls[] = {0, 1, 2, 6, 7, 8, 9, 10, 11};

bool only_aligns(const Operated& one) {
  const auto category = one.instruction.meta.category;
  return category == ZYDIS_CATEGORY_NOP || category == ZYDIS_CATEGORY_WIDENOP || one.instruction.mnemonic == ZYDIS_MNEMONIC_INT3;
}

bool has_no_next(const Operated& one) {
  return one.instruction.mnemonic == ZYDIS_MNEMONIC_HLT || one.instruction.mnemonic == ZYDIS_MNEMONIC_UD2;
}

}  // namespace

// Unwinders lead to code to which no jump leads.
ConstantFlow::ConstantFlow(CodeBytes function, const FunctionCode& code)
    : function_(function), code_(code), before_(code.instructions.size()), left_(kMostEntries * before_.size() + kMostEntries) {
  if (code.may_jump_anywhere()) forget_between_blocks();
  Operated its;
  for (size_t i = 0; i < before_.size(); i++) {
    if (before_[i] || !its.decode(function_.subspan(code_.instructions[i].offset))) continue;
    if (i == 0 || !only_aligns(its)) follow(i);
  }
}

// A table may lead to where a block begins.
void ConstantFlow::forget_between_blocks() {
  for (size_t i = 0; i < before_.size(); i++) {
    const MachineInstruction& one = code_.instructions[i];
    const bool ends_block = one.flow == Flow::jump || one.flow == Flow::branch || one.flow == Flow::return_;
    if (ends_block) enter(i + 1, {});
    if (ends_block && one.target) enter_target(*one.target, {});
  }
}

void ConstantFlow::follow(size_t first) {
  enter(first, {});
  while (!waiting_.empty()) {
    const size_t index = waiting_.back();
    waiting_.pop_back();
    leave(index);
  }
}

void ConstantFlow::leave(size_t index) {
  const MachineInstruction& one = code_.instructions[index];
  Operated its;
  if (!its.decode(function_.subspan(one.offset))) return;
  Constants constants = *before_[index];
  run(its, constants);
  const bool has_target = one.flow == Flow::jump || one.flow == Flow::branch;
  if (has_target && one.target) enter_target(*one.target, constants);
  if (one.flow == Flow::call && one.target) enter_target(*one.target, {});
  if (one.is_table_jump)
    for (const int64_t target : code_.table_targets) enter_target(target, constants);
  if (one.flow != Flow::jump && one.flow != Flow::return_ && !has_no_next(its)) enter(index + 1, constants);
}

void ConstantFlow::enter_target(int64_t target, const Constants& with) {
  const MachineInstruction* found = target < 0 ? nullptr : code_.at(static_cast<uint64_t>(target));
  if (found != nullptr) enter(static_cast<size_t>(found - code_.instructions.data()), with);
}

void ConstantFlow::enter(size_t index, const Constants& with) {
  if (index >= before_.size() || left_ == 0) return;
  left_--;
  std::optional<Constants>& known = before_[index];
  if (!known) {
    known = with;
  } else {
    Constants both = *known;
    for (size_t i = 0; i < both.size(); i++)
      if (both[i] != with[i]) both[i].reset();
    if (both == *known) return;
    known = both;
  }
  waiting_.push_back(index);
}

void ConstantFlow::run(const Operated& one, Constants& constants) {
  const std::optional<uint32_t> made = made_by(one, constants);
  const ZydisMnemonic mnemonic = one.instruction.mnemonic;
  constants[kPushed].reset();
  if (mnemonic == ZYDIS_MNEMONIC_PUSH && one.operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
    constants[kPushed] = static_cast<uint32_t>(one.operands[0].imm.value.u);
  for (const ZydisDecodedOperand& operand : one.all())
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER && is_write(operand))
      if (const auto number = number_of(operand.reg.value)) constants[*number].reset();
  if (one.instruction.meta.category == ZYDIS_CATEGORY_CALL)
    for (const size_t number : kChangedByCalls) constants[number].reset();
  if (mnemonic == ZYDIS_MNEMONIC_SYSCALL || mnemonic == ZYDIS_MNEMONIC_SYSENTER || mnemonic == ZYDIS_MNEMONIC_INT)
    constants[0].reset();
  if (made) constants[*number_of(one.operands[0].reg.value)] = made;
}

// The lower half of its first operand.
std::optional<uint32_t> ConstantFlow::made_by(const Operated& one, const Constants& constants) {
  const ZydisDecodedOperand &to = one.operands[0], &from = one.operands[1];
  if (to.type != ZYDIS_OPERAND_TYPE_REGISTER || to.size < 32 || !number_of(to.reg.value)) return std::nullopt;
  const bool is_of_register = from.type == ZYDIS_OPERAND_TYPE_REGISTER;
  switch (one.instruction.mnemonic) {
    case ZYDIS_MNEMONIC_MOV: {
      if (from.type == ZYDIS_OPERAND_TYPE_IMMEDIATE) return static_cast<uint32_t>(from.imm.value.u);
      const auto number = is_of_register ? number_of(from.reg.value) : std::nullopt;
      return number ? constants[*number] : std::nullopt;
    }
    case ZYDIS_MNEMONIC_XOR:
      return is_of_register && from.reg.value == to.reg.value ? std::optional(0U) : std::nullopt;
    case ZYDIS_MNEMONIC_POP:
      return constants[kPushed];
    default:
      return std::nullopt;
  }
}

std::optional<size_t> ConstantFlow::number_of(ZydisRegister reg) {
  const ZydisRegister full = whole(reg);
  if (full < ZYDIS_REGISTER_RAX || full > ZYDIS_REGISTER_R15) return std::nullopt;
  return static_cast<size_t>(full - ZYDIS_REGISTER_RAX);
}

std::optional<uint32_t> ConstantFlow::at(uint64_t offset, ZydisRegister reg) const {
  const MachineInstruction* found = code_.at(offset);
  const auto number = number_of(reg);
  if (found == nullptr || !number || left_ == 0) return std::nullopt;
  const auto& constants = before_[static_cast<size_t>(found - code_.instructions.data())];
  return constants ? (*constants)[*number] : std::nullopt;
}

}  // namespace dvm::runtime
