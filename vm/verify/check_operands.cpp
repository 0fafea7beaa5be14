// Opcodes and registers, instruction by instruction. Covered by tests/unit/vm/verify_test.cpp.

#include <fmt/format.h>

#include "dvm/dif/register_use.h"
#include "vm/verify/report.h"

namespace dvm::vm {

using dif::Format;

namespace {

void check_byte(unsigned pc, const char* name, dif::RegisterRole role, unsigned value, Report& report) {
  if (role == dif::RegisterRole::unused && value != 0) report.add(pc, fmt::format("unused operand {} is not 0", name));
  if (role != dif::RegisterRole::read && role != dif::RegisterRole::write) return;
  if (value >= dif::kRegisters) report.add(pc, fmt::format("no register %r{}", value));
  if (role == dif::RegisterRole::write && value == 0) report.add(pc, "%r0 cannot be written");
}

void check_push(unsigned pc, dif::Instruction in, Format format, Report& report) {
  if (in.r1() > static_cast<unsigned>(dif::PushType::bytes)) report.add(pc, fmt::format("no type {} to push", in.r1()));
  if (format == Format::pushts && in.r1() == static_cast<unsigned>(dif::PushType::value))
    report.add(pc, "pushtr pushes a string or bytes");
}

void check_instruction(unsigned pc, dif::Instruction in, Report& report) {
  if (!dif::is_opcode(in.number())) return report.add(pc, fmt::format("no opcode {}", in.number()));
  const dif::RegisterRoles& roles = roles_of(in);
  if (roles.format == Format::xlate) report.add(pc, "a translator that the compiler should have resolved");
  if (info(in.opcode()).tuple == dif::TupleUse::push) check_push(pc, in, roles.format, report);
  check_byte(pc, "r1", roles.r1, in.r1(), report);
  check_byte(pc, "r2", roles.r2, in.r2(), report);
  check_byte(pc, "rd", roles.rd, in.rd(), report);
}

}  // namespace

void check_operands(const dif::Difo& difo, Report& report) {
  for (unsigned pc = 0; pc < difo.text.size(); pc++) check_instruction(pc, difo.text[pc], report);
}

}  // namespace dvm::vm
