#pragma once
// Built-in variables, made from vm/dif/variables.def, and the numbering of a script's own.

#include <array>
#include <cstdint>
#include <string_view>

namespace dvm::dif {

enum class BuiltIn : uint16_t {
#define DVM_VARIABLE(id, name, dname, kind, type, family, text) name = id,
#include "vm/dif/variables.def"
};

enum class BuiltInKind : uint8_t { scalar, array };
enum class VariableFamily : uint8_t { none, args, regs, clock, probe, process, kernel };

struct BuiltInInfo {
  BuiltIn id;
  std::string_view name;
  BuiltInKind kind;
  std::string_view type;
  VariableFamily family;  // none: there is no such thing here, and a script that uses it is told so
  std::string_view text;
};

inline constexpr std::array kBuiltIns = {
#define DVM_VARIABLE(id, name, dname, kind, type, family, text) \
  BuiltInInfo{BuiltIn::name, dname, BuiltInKind::kind, type, VariableFamily::family, text},
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

}  // namespace dvm::dif
