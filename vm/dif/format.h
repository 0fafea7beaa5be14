#pragma once
// The operands of each format: their notation, and their bits in the word (drawn in dvm/dif/instruction.h). The disassembler, the
// assembler and the manual use this description.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "dvm/dif/difo.h"

namespace dvm::dif {

enum class OperandKind : uint8_t { reg, address, integer, string, variable, subroutine, type, translator, label };
enum class InstructionField : uint8_t { r1, r2, rd, index, label };

// The words for VariableKind and Scope in listings of the variable table.
inline constexpr std::string_view kListedKinds[] = {"scl", "arr"};
inline constexpr std::string_view kListedScopes[] = {"glb", "tls", "loc"};

// The text around the number of an operand.
struct OperandText {
  OperandKind kind;
  std::string_view before, after;
};

inline constexpr std::array kOperandTexts = {
    OperandText{OperandKind::reg, "%r", ""},
    OperandText{OperandKind::address, "[%r", "]"},
    OperandText{OperandKind::integer, "DT_INTEGER[", "]"},
    OperandText{OperandKind::string, "DT_STRING[", "]"},
    OperandText{OperandKind::variable, "DT_VAR(", ")"},
    OperandText{OperandKind::subroutine, "DIF_SUBR(", ")"},
    OperandText{OperandKind::type, "DT_TYPE(", ")"},
    OperandText{OperandKind::translator, "DT_XLREF[", "]"},
    OperandText{OperandKind::label, "", ""},
};

struct OperandFormat {
  OperandKind kind = OperandKind::reg;
  InstructionField field = InstructionField::r1;
  constexpr const OperandText& text() const { return kOperandTexts[static_cast<size_t>(kind)]; }
};

struct FormatInfo {
  Format format;
  std::string_view name;
  unsigned count = 0;
  std::array<OperandFormat, 3> operands{};
};

inline constexpr OperandFormat kR1{OperandKind::reg, InstructionField::r1}, kR2{OperandKind::reg, InstructionField::r2},
    kRd{OperandKind::reg, InstructionField::rd};

inline constexpr std::array kFormats = {
    FormatInfo{Format::none, "none", 0, {}},
    FormatInfo{Format::log, "log", 3, {kR1, kR2, kRd}},
    FormatInfo{Format::copy, "copy", 3, {kR1, kR2, kRd}},
    FormatInfo{Format::r1rd, "r1rd", 2, {kR1, kRd}},
    FormatInfo{Format::cmp, "cmp", 2, {kR1, kR2}},
    FormatInfo{Format::tst, "tst", 1, {kR1}},
    FormatInfo{Format::branch, "branch", 1, {OperandFormat{OperandKind::label, InstructionField::label}}},
    FormatInfo{Format::load, "load", 2, {OperandFormat{OperandKind::address, InstructionField::r1}, kRd}},
    FormatInfo{Format::store, "store", 2, {kR1, OperandFormat{OperandKind::address, InstructionField::rd}}},
    FormatInfo{Format::ret, "ret", 1, {kRd}},
    FormatInfo{Format::setx, "setx", 2, {OperandFormat{OperandKind::integer, InstructionField::index}, kRd}},
    FormatInfo{Format::sets, "sets", 2, {OperandFormat{OperandKind::string, InstructionField::index}, kRd}},
    FormatInfo{Format::lda, "lda", 3, {OperandFormat{OperandKind::variable, InstructionField::r1}, kR2, kRd}},
    FormatInfo{Format::ldv, "ldv", 2, {OperandFormat{OperandKind::variable, InstructionField::index}, kRd}},
    FormatInfo{Format::stv, "stv", 2, {kRd, OperandFormat{OperandKind::variable, InstructionField::index}}},
    FormatInfo{Format::call, "call", 2, {OperandFormat{OperandKind::subroutine, InstructionField::index}, kRd}},
    FormatInfo{Format::pushts, "pushts", 3, {OperandFormat{OperandKind::type, InstructionField::r1}, kR2, kRd}},
    FormatInfo{Format::pushv, "pushv", 2, {OperandFormat{OperandKind::type, InstructionField::r1}, kRd}},
    FormatInfo{Format::xlate, "xlate", 2, {OperandFormat{OperandKind::translator, InstructionField::index}, kRd}},
};
static_assert([] {
  for (size_t i = 0; i < kFormats.size(); i++)
    if (kFormats[i].format != static_cast<Format>(i)) return false;
  for (size_t i = 0; i < kOperandTexts.size(); i++)
    if (kOperandTexts[i].kind != static_cast<OperandKind>(i)) return false;
  return kFormats.size() == static_cast<size_t>(Format::xlate) + 1;
}());

constexpr const FormatInfo& info(Format format) { return kFormats[static_cast<size_t>(format)]; }

constexpr std::span<const OperandFormat> operands_of(Opcode op) {
  const FormatInfo& row = info(info(op).format);
  return std::span(row.operands).first(row.count);
}

// The bits of a field: their number, and the position of the lowest one.
struct FieldBits {
  unsigned size, shift;
  constexpr uint32_t most() const { return (uint32_t{1} << size) - 1; }
};
constexpr FieldBits bits_of(InstructionField field) {
  constexpr FieldBits kBits[] = {{8, 16}, {8, 8}, {8, 0}, {16, 8}, {24, 0}};
  return kBits[static_cast<size_t>(field)];
}
constexpr uint32_t field_of(Instruction in, InstructionField field) {
  return in.word() >> bits_of(field).shift & bits_of(field).most();
}

// The scope of the variables that an opcode names; global for an opcode that names none.
constexpr Scope scope_of(Opcode op) { return info(op).scope.value_or(Scope::global); }

}  // namespace dvm::dif
