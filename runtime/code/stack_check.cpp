// Finds the stack check. Covered by tests/unit/code/stack_check_test.cpp and tests/runtime/scenarios/test_go.py.

#include "runtime/code/stack_check.h"

#include <algorithm>
#include <array>

#include "runtime/code/operated.h"

namespace dvm::runtime {
namespace {

constexpr size_t kMostOfCheck = 12;   // instructions
constexpr size_t kMostOfGrowth = 80;  // from the branch's target to the jump back: as many as save and load all arguments

bool may_change(ZydisRegister reg, bool are_free) {
  if (reg == ZYDIS_REGISTER_R12 || reg == ZYDIS_REGISTER_R13 || reg == ZYDIS_REGISTER_RFLAGS) return true;
  constexpr std::array kKept = {ZYDIS_REGISTER_RSP, ZYDIS_REGISTER_RBP, ZYDIS_REGISTER_R14, ZYDIS_REGISTER_NONE};
  return are_free && std::find(kKept.begin(), kKept.end(), reg) == kKept.end();
}

// It computes and compares, and changes nothing that the function is passed.
bool is_of_check(const Operated& one, bool are_free) {
  constexpr std::array kMnemonics = {ZYDIS_MNEMONIC_MOV, ZYDIS_MNEMONIC_LEA, ZYDIS_MNEMONIC_SUB, ZYDIS_MNEMONIC_CMP,
                                     ZYDIS_MNEMONIC_NOP};
  if (std::find(kMnemonics.begin(), kMnemonics.end(), one.instruction.mnemonic) == kMnemonics.end()) return false;
  return std::all_of(one.all().begin(), one.all().end(), [are_free](const ZydisDecodedOperand& operand) {
    if (!is_write(operand)) return true;
    if (operand.type != ZYDIS_OPERAND_TYPE_REGISTER) return false;
    return operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN || may_change(whole(operand.reg.value), are_free);
  });
}

// With the guard of the goroutine's stack, or that of the thread's.
bool compares_guard(const Operated& one) {
  constexpr int64_t kGuard = 0x10, kThreadGuard = 0x18;
  return one.instruction.mnemonic == ZYDIS_MNEMONIC_CMP &&
         std::any_of(one.all().begin(), one.all().end(), [](const ZydisDecodedOperand& operand) {
           const auto& memory = operand.mem;
           return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && memory.index == ZYDIS_REGISTER_NONE &&
                  (memory.disp.value == kGuard || memory.disp.value == kThreadGuard);
         });
}

// True if the code there calls something, then starts the function again.
bool begins_anew(const FunctionCode& function, int64_t from) {
  const MachineInstruction* one = from > 0 ? function.at(static_cast<uint64_t>(from)) : nullptr;
  if (one == nullptr) return false;
  const MachineInstruction* const end = function.instructions.data() + function.instructions.size();
  bool has_called = false;
  for (size_t i = 0; i < kMostOfGrowth && one != end; i++, one++) {
    if (one->flow == Flow::jump) return has_called && one->target == 0;
    if (one->flow != Flow::next && one->flow != Flow::call) return false;
    has_called |= one->flow == Flow::call;
  }
  return false;
}

}  // namespace

uint32_t behind_stack_check(CodeBytes code, bool are_free) {
  const FunctionCode function = decode_function(code);
  uint32_t behind = 0;
  bool has_compared = false;
  for (size_t i = 0; i < std::min(kMostOfCheck, function.instructions.size()); i++) {
    const MachineInstruction& here = function.instructions[i];
    if (here.flow == Flow::branch) {
      if (!here.target || *here.target <= here.offset || !begins_anew(function, *here.target)) break;
      behind = here.offset + here.length;
      continue;
    }
    Operated one;
    if (here.flow != Flow::next || !one.decode(code.subspan(here.offset)) || !is_of_check(one, are_free)) break;
    has_compared |= compares_guard(one);
  }
  return has_compared && !function.is_entered_up_to(behind) ? behind : 0;
}

bool keeps_goroutine(CodeBytes code) {
  const FunctionCode function = decode_function(code);
  return function.is_complete &&
         std::none_of(function.instructions.begin(), function.instructions.end(), [&](const MachineInstruction& here) {
           Operated one;
           return !one.decode(code.subspan(here.offset)) ||
                  std::any_of(one.all().begin(), one.all().end(), [](const ZydisDecodedOperand& operand) {
                    return operand.type == ZYDIS_OPERAND_TYPE_REGISTER && is_write(operand) &&
                           whole(operand.reg.value) == ZYDIS_REGISTER_R14;
                  });
         });
}

}  // namespace dvm::runtime
