#pragma once
// DIFOs made at random, and damaged ones. A seed gives the same ones each time.

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "dvm/dif/text.h"
#include "tests/conformance/dift.h"
#include "tests/fuzz/machine.h"

namespace dvm::fuzz {

class Maker {
 public:
  explicit Maker(uint32_t seed) : random_(seed) {}

  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  dif::Instruction any_word() { return dif::Instruction(static_cast<uint32_t>(random_())); }

  // Mostly one of all_kinds() that the opcode takes.
  unsigned variable_for(const dif::OpcodeInfo& op) {
    if (op.scope == dif::Scope::global && op.tuple == dif::TupleUse::none && below(2)) return any_built_in();
    const unsigned scope = op.scope && below(8) ? static_cast<unsigned>(*op.scope) : below(3);
    return dif::kFirstUserVariable + 6 * scope + (op.tuple == dif::TupleUse::none ? 0 : 3) + below(3);
  }
  // Above those of all arrays.
  static constexpr unsigned kArrayIds = [] {
    unsigned ids = 0;
    for (const dif::BuiltInInfo& row : dif::kBuiltIns)
      if (row.kind == dif::BuiltInKind::array) ids = std::max(ids, static_cast<unsigned>(row.id) + 1);
    return ids;
  }();
  unsigned any_built_in() { return static_cast<unsigned>(dif::kBuiltIns[below(dif::kBuiltIns.size())].id); }

  // A word that has a chance with the verifier: registers that exist, small indices, ids of variables.
  dif::Instruction likely_word(unsigned pc, unsigned size) {
    const auto op = static_cast<dif::Opcode>(1 + below(dif::kOpcodeCount));
    const unsigned r1 = below(8), r2 = below(8), rd = below(8);
    using dif::Format;
    switch (info(op).format) {
      case Format::branch:
        return dif::Instruction::branch(op, pc + 1 + below(std::max(size - pc, 2u) - 1));
      case Format::setx:
      case Format::sets:
        return dif::Instruction::indexed(op, below(6), rd | 1);
      case Format::ldv:
      case Format::stv:
        return dif::Instruction::indexed(op, variable_for(info(op)), rd | 1);
      case Format::call:
        return dif::Instruction::indexed(op, below(dif::kSubroutineCount), rd | 1);
      case Format::lda:
        return dif::Instruction::registers(op, below(kArrayIds), r2, rd | 1);
      case Format::pushts:
        return dif::Instruction::registers(op, below(3), op == dif::Opcode::pushtv ? 0 : r2, rd);
      case Format::log:
        return dif::Instruction::registers(op, r1, r2, rd | 1);
      case Format::r1rd:
      case Format::load:
        return dif::Instruction::registers(op, r1, 0, rd | 1);
      case Format::store:
        return dif::Instruction::registers(op, r1, 0, rd);
      case Format::cmp:
        return dif::Instruction::registers(op, r1, r2, 0);
      case Format::tst:
        return dif::Instruction::registers(op, r1, 0, 0);
      case Format::ret:
        return dif::Instruction::registers(op, 0, 0, rd);
      default:
        return dif::Instruction::registers(op, 0, 0, 0);
    }
  }

  // As many arguments as the subroutine has, each from any register.
  void add_call(std::vector<dif::Instruction>& text) {
    const dif::SubroutineInfo& row = dif::kSubroutines[below(dif::kSubroutineCount)];
    text.push_back(dif::Instruction::registers(dif::Opcode::flushts, 0, 0, 0));
    const auto required = static_cast<unsigned>(row.arguments.required()), most = static_cast<unsigned>(row.arguments.size());
    for (unsigned n = required + below(most - required + 1); n > 0; n--)
      text.push_back(below(2) ? dif::Instruction::registers(dif::Opcode::pushtv, 0, 0, below(8))
                              : dif::Instruction::registers(dif::Opcode::pushtr, 1, 0, below(8)));
    text.push_back(dif::Instruction::indexed(dif::Opcode::call, static_cast<unsigned>(row.id), 1 + below(7)));
  }

  // Addresses of every region in registers first, then anything.
  dif::Difo likely_difo() {
    dif::Difo difo = dif::assemble(
                         "setx 24, %r1\nallocs %r1, %r2\nsets \"a/b:c\", %r3\nldgs DT_VAR(1282), %r4\nldls DT_VAR(1293), %r5\n"
                         "ldgs probefunc, %r6\nsetx 0x1000, %r7\n")
                         .
                         operator*();
    difo.integers.insert(difo.integers.end(), {0, 3, ~uint64_t{0}, uint64_t{1} << 63, 0x2000});
    difo.variables = all_kinds();
    const unsigned size = static_cast<unsigned>(difo.text.size()) + 1 + below(24);
    while (difo.text.size() + 1 < size) {
      if (below(4) == 0)
        add_call(difo.text);
      else
        difo.text.push_back(likely_word(static_cast<unsigned>(difo.text.size()), size));
    }
    difo.text.push_back(dif::Instruction::registers(dif::Opcode::ret, 0, 0, below(8)));
    return difo;
  }

  void mutate(dif::Difo& difo) {
    for (unsigned n = 1 + below(3); n-- > 0;) {
      dif::Instruction& word = difo.text[below(static_cast<unsigned>(difo.text.size()))];
      switch (below(4)) {
        case 0:
          word = dif::Instruction(word.word() ^ 1u << below(32));
          break;
        case 1:
          word = dif::Instruction((word.word() & ~(0xffu << 8 * below(4))) | below(8) << 8 * below(4));
          break;
        case 2:
          word = any_word();
          break;
        default:
          if (!difo.integers.empty()) difo.integers[below(static_cast<unsigned>(difo.integers.size()))] = random_();
      }
    }
  }

 private:
  std::mt19937_64 random_;
};

// The DIFOs of the conformance cases.
inline std::vector<dif::Difo> conformance_difos() {
  std::vector<dif::Difo> all;
  for (const vm::test::Dift& file : vm::test::read_all_dift())
    for (const vm::test::Case& c : file.cases)
      if (auto difo = dif::assemble(c.dif)) all.push_back(*std::move(difo));
  return all;
}

}  // namespace dvm::fuzz
