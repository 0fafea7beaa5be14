// What the passes ask about a step. Tests: tests/golden/lower (tst.optimize.*.d), tests/unit/compiler/optimize_test.cpp.
#include "compiler/lower/code.h"

#include "compiler/lower/operators.h"
#include "compiler/sema/fold_constants.h"

namespace dvm::compiler {

using dif::Opcode;

bool is_scalar_load(const Step& s) {
  return !s.is_label && (s.op == Opcode::ldgs || s.op == Opcode::ldts || s.op == Opcode::ldls);
}

bool is_memory_load(const Step& s) { return !s.is_label && dif::info(s.op).format == dif::Format::load; }

bool is_variable_store(const Step& s) { return !s.is_label && dif::info(s.op).format == dif::Format::stv; }

bool changes_memory(const Step& s) {
  if (s.is_label) return false;
  const dif::Format format = dif::info(s.op).format;
  return format == dif::Format::store || format == dif::Format::stv || format == dif::Format::call || s.op == Opcode::copys ||
         s.op == Opcode::allocs;
}

std::optional<uint64_t> evaluate(Opcode op, uint64_t left, uint64_t right) {
  if (op == Opcode::not_) return ~left;
  for (const OperatorOpcodes& row : kArithmetic) {
    if (row.with_sign != op && row.without != op) continue;
    if ((row.op == Op::divide || row.op == Op::remainder) && right == 0) return std::nullopt;
    return evaluate(row.op, left, right, row.with_sign == op && row.with_sign != row.without);
  }
  return std::nullopt;
}

RegisterCounts::RegisterCounts(const Code& code) : writes(code.registers, code.arena()), reads(code.registers, code.arena()) {
  for (const Step& s : code.steps) {
    writes[s.writes]++;
    for (const Register r : s.reads) reads[r]++;
  }
}

}  // namespace dvm::compiler
