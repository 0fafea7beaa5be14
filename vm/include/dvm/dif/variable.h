#pragma once
// Built-in variables, made from vm/dif/variables.def, and the range of ids for user variables.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "dvm/dif/firing_part.h"
#include "dvm/dif/instruction.h"

namespace dvm::dif {

enum class BuiltIn : uint16_t {
#define DVM_VARIABLE(id, name, ...) name = id,
#include "vm/dif/variables.def"
};

enum class BuiltInKind : uint8_t { scalar, array };
enum class VariableFamily : uint8_t { none, args, regs, clock, probe, process, kernel };

struct BuiltInInfo {
  BuiltIn id;
  std::string_view name;
  BuiltInKind kind;
  std::string_view type;
  VariableFamily family;  // none: dvm does not support it, and refuses a script that uses it
  FiringPart reads;       // the parts of the firing that its getter uses
  std::string_view text;
};

inline constexpr std::array kBuiltIns = {
#define DVM_VARIABLE(id, name, dname, kind, type, family, reads, text)                                       \
  [] {                                                                                                       \
    using enum FiringPart;                                                                                   \
    constexpr FiringPart kReads = reads;                                                                     \
    return BuiltInInfo{BuiltIn::name, dname, BuiltInKind::kind, type, VariableFamily::family, kReads, text}; \
  }(),
#include "vm/dif/variables.def"
};

inline constexpr unsigned kFirstUserVariable = 0x500;  // DTrace's DIF_VAR_OTHER_UBASE
inline constexpr unsigned kLastVariable = 0xffff;

// The row of a built-in, or null.
constexpr const BuiltInInfo* find_built_in(unsigned id) {
  for (const BuiltInInfo& row : kBuiltIns)
    if (static_cast<unsigned>(row.id) == id) return &row;
  return nullptr;
}

// The id of the built-in variable that an instruction reads; the id may be unknown. Nothing: it reads none.
constexpr std::optional<unsigned> built_in_of(Instruction in) {
  if (!is_opcode(in.number())) return std::nullopt;
  const OpcodeInfo& row = info(in.opcode());
  if (row.scope != Scope::global || row.tuple != TupleUse::none) return std::nullopt;
  if (row.format == Format::lda) return in.r1();
  if (row.format == Format::ldv && in.index() < kFirstUserVariable) return in.index();
  return std::nullopt;
}

}  // namespace dvm::dif
