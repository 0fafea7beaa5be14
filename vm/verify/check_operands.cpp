// Opcodes and registers, instruction by instruction. Covered by tests/unit/vm/verify_test.cpp.

#include <fmt/format.h>

#include <array>

#include "vm/verify/report.h"

namespace dvm::vm {

using dif::Format;

namespace {

// The role of each of the three low bytes, by format: a register that is read or written, unused (must be 0), or something else.
enum class Role : uint8_t { other, unused, read, write };
struct Roles {
  Format format;
  Role r1, r2, rd;
};

constexpr std::array kRoles = {
    Roles{Format::none, Role::unused, Role::unused, Role::unused}, Roles{Format::log, Role::read, Role::read, Role::write},
    Roles{Format::copy, Role::read, Role::read, Role::read},       Roles{Format::r1rd, Role::read, Role::unused, Role::write},
    Roles{Format::cmp, Role::read, Role::read, Role::unused},      Roles{Format::tst, Role::read, Role::unused, Role::unused},
    Roles{Format::branch, Role::other, Role::other, Role::other},  Roles{Format::load, Role::read, Role::unused, Role::write},
    Roles{Format::store, Role::read, Role::unused, Role::read},    Roles{Format::ret, Role::unused, Role::unused, Role::read},
    Roles{Format::setx, Role::other, Role::other, Role::write},    Roles{Format::sets, Role::other, Role::other, Role::write},
    Roles{Format::lda, Role::other, Role::read, Role::write},      Roles{Format::ldv, Role::other, Role::other, Role::write},
    Roles{Format::stv, Role::other, Role::other, Role::read},      Roles{Format::call, Role::other, Role::other, Role::write},
    Roles{Format::pushts, Role::other, Role::read, Role::read},    Roles{Format::pushv, Role::other, Role::unused, Role::read},
    Roles{Format::xlate, Role::other, Role::other, Role::write},
};
static_assert([] {
  for (size_t i = 0; i < kRoles.size(); i++)
    if (kRoles[i].format != static_cast<Format>(i)) return false;
  return kRoles.size() == static_cast<size_t>(Format::xlate) + 1;
}());

const Roles& roles_of(dif::Instruction in) { return kRoles[static_cast<size_t>(info(in.opcode()).format)]; }

void check_byte(unsigned pc, const char* name, Role role, unsigned value, Report& report) {
  if (role == Role::unused && value != 0) report.add(pc, fmt::format("unused operand {} is not 0", name));
  if (role != Role::read && role != Role::write) return;
  if (value >= dif::kRegisters) report.add(pc, fmt::format("no register %r{}", value));
  if (role == Role::write && value == 0) report.add(pc, "%r0 cannot be written");
}

void check_push(unsigned pc, dif::Instruction in, Format format, Report& report) {
  if (in.r1() > static_cast<unsigned>(dif::PushType::bytes)) report.add(pc, fmt::format("no type {} to push", in.r1()));
  if (format == Format::pushts && in.r1() == static_cast<unsigned>(dif::PushType::value))
    report.add(pc, "pushtr pushes a string or bytes");
}

void check_instruction(unsigned pc, dif::Instruction in, Report& report) {
  if (!dif::is_opcode(in.number())) return report.add(pc, fmt::format("no opcode {}", in.number()));
  const Roles& roles = roles_of(in);
  if (roles.format == Format::xlate) report.add(pc, "a translator that the compiler should have resolved");
  if (info(in.opcode()).tuple == dif::TupleUse::push) check_push(pc, in, roles.format, report);
  check_byte(pc, "r1", roles.r1, in.r1(), report);
  check_byte(pc, "r2", roles.r2, in.r2(), report);
  check_byte(pc, "rd", roles.rd, in.rd(), report);
}

uint8_t bit(Role role, Role wanted, unsigned number) { return static_cast<uint8_t>(role == wanted ? 1u << number : 0); }

}  // namespace

void check_operands(const dif::Difo& difo, Report& report) {
  for (unsigned pc = 0; pc < difo.text.size(); pc++) check_instruction(pc, difo.text[pc], report);
}

RegisterUse registers_of(dif::Instruction in) {
  const Roles& roles = roles_of(in);
  RegisterUse use;
  use.reads = static_cast<uint8_t>(bit(roles.r1, Role::read, in.r1()) | bit(roles.r2, Role::read, in.r2()) |
                                   bit(roles.rd, Role::read, in.rd()));
  use.writes = bit(roles.rd, Role::write, in.rd());
  return use;
}

}  // namespace dvm::vm
