// Code to an object: tables without duplicates, labels as numbers of instructions. Tests: tests/golden/lower.
#include <map>

#include "compiler/lower/optimize.h"

namespace dvm::compiler {

using dif::Format;
using dif::Instruction;

namespace {

class DifEncoder {
 public:
  explicit DifEncoder(const Code& code)
      : code_(code),
        places_(code.labels, code.arena()),
        integers_(code.arena()),
        strings_(code.arena()),
        variables_(code.arena()) {}

  dif::Difo run(dif::DataType result) {
    place_labels();
    difo_.text.reserve(code_.steps.size());
    for (const CodeStep& s : code_.steps)
      if (!s.is_label) difo_.text.push_back(encode(s));
    difo_.result = std::move(result);
    return std::move(difo_);
  }

 private:
  void place_labels() {
    unsigned pc = 0;
    for (const CodeStep& s : code_.steps) {
      if (s.is_label) places_[s.value] = pc;
      pc += !s.is_label;
    }
  }

  Instruction encode(const CodeStep& s) {
    const auto value = static_cast<unsigned>(s.value);
    switch (dif::info(s.op).format) {
      case Format::branch:
        return Instruction::branch(s.op, places_[s.value]);
      case Format::setx:
        return Instruction::indexed(s.op, integer(s.value), s.writes);
      case Format::sets:
        return Instruction::indexed(s.op, string(s.value), s.writes);
      case Format::lda:
        return Instruction::registers(s.op, value, s.reads[0], s.writes);
      case Format::ldv:
        note_variable(s, false);
        return Instruction::indexed(s.op, value, s.writes);
      case Format::stv:
        note_variable(s, true);
        return Instruction::indexed(s.op, value, s.reads[0]);
      case Format::call:
        return Instruction::indexed(s.op, value, s.writes);
      case Format::pushts:
      case Format::pushv:
        return Instruction::registers(s.op, value, s.reads[0], s.reads[1]);
      case Format::ret:
        return Instruction::registers(s.op, 0, 0, s.reads[0]);
      case Format::store:
        return Instruction::registers(s.op, s.reads[0], 0, s.reads[1]);
      case Format::copy:
        return Instruction::registers(s.op, s.reads[0], s.reads[1], s.reads[2]);
      default:
        return Instruction::registers(s.op, s.reads[0], s.reads[1], s.writes);
    }
  }

  unsigned integer(uint64_t value) {
    const auto [it, is_new] = integers_.try_emplace(value, static_cast<unsigned>(difo_.integers.size()));
    if (is_new) difo_.integers.push_back(value);
    return it->second;
  }

  unsigned string(uint64_t number) {
    const auto [it, is_new] = strings_.try_emplace(number, static_cast<unsigned>(difo_.strings.size()));
    if (is_new) difo_.strings.append(code_.strings[number]).push_back('\0');
    return it->second;
  }

  void note_variable(const CodeStep& s, bool writes) {
    if (s.symbol->kind != SymbolKind::variable) return;
    const auto [it, is_new] = variables_.try_emplace(s.symbol, difo_.variables.size());
    if (is_new) difo_.variables.push_back(describe(*s.symbol));
    dif::Variable& v = difo_.variables[it->second];
    (writes ? v.is_written : v.is_read) = true;
  }

  const Code& code_;
  dif::Difo difo_;
  ArenaVector<unsigned> places_;
  std::pmr::map<uint64_t, unsigned> integers_, strings_;
  std::pmr::map<const Symbol*, size_t> variables_;
};

// Into the same arena.
Code copy(const Code& code) {
  return {ArenaVector<CodeStep>(code.steps, code.arena()), code.strings, code.registers, code.labels};
}

void optimize(Code& code) {
  constexpr int kMostPasses = 4;  // of a chain of pointers, each may be decided by the one before
  for (int passes = 0; passes < kMostPasses && number_values(code);) passes++;
  remove_dead(code);
  join_moves(code);
  remove_dead(code);
  sink_loads(code);
}

}  // namespace

dif::Difo encode(const Code& code, dif::DataType result) { return DifEncoder(code).run(std::move(result)); }

// Values that are kept because they are needed again may be too many; then they are computed again, and spilled only if that does
// not suffice.
std::optional<dif::Difo> make_difo(const Code& code, const dif::DataType& result, bool optimized,
                                   const SpillVariables& variables) {
  Code best = copy(code);
  if (optimized) optimize(best);
  if (assign_registers(best, nullptr)) return encode(best, result);
  Code plain = copy(code);
  join_moves(plain);
  sink_loads(plain);
  if (assign_registers(plain, variables)) return encode(plain, result);
  return std::nullopt;
}

}  // namespace dvm::compiler
