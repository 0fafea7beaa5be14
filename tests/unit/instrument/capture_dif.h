#pragma once
// DIF for the tests of captures, in short, and what it needs captured.

#include <algorithm>
#include <utility>
#include <vector>

#include "dvm/dif/variable.h"
#include "runtime/instrument/capture.h"

namespace dvm::runtime::capture_dif {

using dif::BuiltIn;
using dif::Difo;
using dif::Instruction;
using dif::Opcode;
using dif::Subroutine;

inline constexpr uint32_t kStrsize = 256;
inline constexpr unsigned kLocal = dif::kFirstUserVariable;

inline Instruction get(BuiltIn variable, unsigned rd) {
  return Instruction::indexed(Opcode::ldgs, static_cast<unsigned>(variable), rd);
}
inline Instruction set(unsigned integer, unsigned rd) { return Instruction::indexed(Opcode::setx, integer, rd); }
inline Instruction push(unsigned r) { return Instruction::registers(Opcode::pushtv, 0, 0, r); }
inline Instruction call(Subroutine subroutine, unsigned rd) {
  return Instruction::indexed(Opcode::call, static_cast<unsigned>(subroutine), rd);
}
inline Instruction op(Opcode opcode, unsigned r1, unsigned r2, unsigned rd) { return Instruction::registers(opcode, r1, r2, rd); }
inline Instruction ret(unsigned rd) { return op(Opcode::ret, 0, 0, rd); }

inline CaptureNeeds needs(std::vector<Instruction> text, std::vector<uint64_t> integers = {}) {
  Difo difo;
  difo.text = std::move(text);
  difo.integers = std::move(integers);
  return needs_of(difo, kStrsize);
}

inline std::vector<MemoryNeed> memory(std::vector<Instruction> text, std::vector<uint64_t> integers = {}) {
  return needs(std::move(text), std::move(integers)).memory;
}

// True if every word that a need starts from, or is sized by, is captured too.
inline bool is_closed(const std::vector<MemoryNeed>& needs) {
  const auto is_known = [&](const Word& word) {
    return word.is_argument() ||
           std::any_of(needs.begin(), needs.end(), [&](const MemoryNeed& have) { return have.covers(MemoryNeed::of(word)); });
  };
  return std::all_of(needs.begin(), needs.end(),
                     [&](const MemoryNeed& need) { return is_known(need.base) && (!need.sized_by || is_known(*need.sized_by)); });
}

inline dif::ActDesc action_of(std::vector<Instruction> text, dif::Action kind = dif::Action::expression) {
  dif::ActDesc action;
  action.kind = kind;
  dif::RecDesc value;
  value.difo.text = std::move(text);
  action.args.push_back(std::move(value));
  return action;
}

}  // namespace dvm::runtime::capture_dif
