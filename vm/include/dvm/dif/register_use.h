#pragma once
// The registers that an instruction of DIF reads and writes, by its format.

#include <array>
#include <cstddef>
#include <cstdint>

#include "dvm/dif/instruction.h"

namespace dvm::dif {

// The role of each of the three low bytes, by format: a register that is read or written, unused (must be 0), or something else.
enum class RegisterRole : uint8_t { other, unused, read, write };
struct RegisterRoles {
  Format format;
  RegisterRole r1, r2, rd;
};

inline constexpr std::array kRegisterRoles = [] {
  using enum RegisterRole;
  return std::array{
      RegisterRoles{Format::none, unused, unused, unused}, RegisterRoles{Format::log, read, read, write},
      RegisterRoles{Format::copy, read, read, read},       RegisterRoles{Format::r1rd, read, unused, write},
      RegisterRoles{Format::cmp, read, read, unused},      RegisterRoles{Format::tst, read, unused, unused},
      RegisterRoles{Format::branch, other, other, other},  RegisterRoles{Format::load, read, unused, write},
      RegisterRoles{Format::store, read, unused, read},    RegisterRoles{Format::ret, unused, unused, read},
      RegisterRoles{Format::setx, other, other, write},    RegisterRoles{Format::sets, other, other, write},
      RegisterRoles{Format::lda, other, read, write},      RegisterRoles{Format::ldv, other, other, write},
      RegisterRoles{Format::stv, other, other, read},      RegisterRoles{Format::call, other, other, write},
      RegisterRoles{Format::pushts, other, read, read},    RegisterRoles{Format::pushv, other, unused, read},
      RegisterRoles{Format::xlate, other, other, write},
  };
}();
static_assert([] {
  for (size_t i = 0; i < kRegisterRoles.size(); i++)
    if (kRegisterRoles[i].format != static_cast<Format>(i)) return false;
  return kRegisterRoles.size() == static_cast<size_t>(Format::xlate) + 1;
}());

constexpr const RegisterRoles& roles_of(Instruction in) { return kRegisterRoles[static_cast<size_t>(info(in.opcode()).format)]; }

// Registers as bits. %r0 is never written.
struct RegisterUse {
  uint8_t reads = 0;
  uint8_t writes = 0;
};

constexpr RegisterUse registers_of(Instruction in) {
  const RegisterRoles& roles = roles_of(in);
  const auto bit = [](RegisterRole role, RegisterRole wanted, unsigned number) { return role == wanted ? 1U << number : 0; };
  RegisterUse use;
  use.reads = static_cast<uint8_t>(bit(roles.r1, RegisterRole::read, in.r1()) | bit(roles.r2, RegisterRole::read, in.r2()) |
                                   bit(roles.rd, RegisterRole::read, in.rd()));
  use.writes = static_cast<uint8_t>(bit(roles.rd, RegisterRole::write, in.rd()));
  return use;
}

}  // namespace dvm::dif
