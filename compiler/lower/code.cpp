// Properties of a step, for the passes. Tests: tests/golden/lower (tst.optimize.*.d), tests/unit/compiler/optimize_test.cpp.
#include "compiler/lower/code.h"

#include "compiler/lower/operators.h"
#include "dvm/dif/arithmetic.h"

namespace dvm::compiler {

bool is_scalar_load(const CodeStep& s) {
  if (s.is_label) return false;
  const dif::OpcodeInfo& row = dif::info(s.op);
  return row.format == dif::Format::ldv && row.tuple == dif::TupleUse::none;
}

bool is_memory_load(const CodeStep& s) { return !s.is_label && dif::info(s.op).format == dif::Format::load; }

bool is_variable_store(const CodeStep& s) { return !s.is_label && dif::info(s.op).format == dif::Format::stv; }

bool changes_memory(const CodeStep& s) {
  if (s.is_label) return false;
  const dif::Format format = dif::info(s.op).format;
  const bool allocates = format == dif::Format::r1rd && dif::info(s.op).can_fault;
  return format == dif::Format::store || format == dif::Format::stv || format == dif::Format::call ||
         format == dif::Format::copy || allocates;
}

std::optional<uint64_t> evaluate(dif::Opcode op, uint64_t left, uint64_t right) {
  return op == opcode_of(Op::complement) ? ~left : dif::arithmetic(op, left, right);
}

RegisterCounts::RegisterCounts(const Code& code) : writes(code.registers, code.arena()), reads(code.registers, code.arena()) {
  for (const CodeStep& s : code.steps) {
    writes[s.writes]++;
    for (const VirtualRegister r : s.reads) reads[r]++;
  }
}

}  // namespace dvm::compiler
