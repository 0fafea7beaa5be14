#pragma once
// Subroutines of DIF, made from vm/dif/subroutines.def.

#include <array>
#include <cstdint>
#include <string_view>

#include "dvm/dif/opcode.h"

namespace dvm::dif {

enum class Subroutine : uint16_t {
#define DVM_SUBR(number, name, result, arguments, cost, destructive, support, text) name = number,
#include "vm/dif/subroutines.def"
};

struct SubroutineInfo {
  Subroutine id;
  std::string_view name;
  std::string_view result;     // D type, see subroutines.def
  std::string_view arguments;  // D types separated by spaces; a trailing ? makes one optional
  CostClass cost;
  bool destructive;
  std::string_view unsupported;  // the reason; empty when it is supported
  std::string_view text;
};

inline constexpr std::string_view yes = "";
inline constexpr std::array kSubroutines = {
#define DVM_DESTRUCTIVE_yes true
#define DVM_DESTRUCTIVE_no false
#define DVM_SUBR(number, name, result, arguments, cost, destructive, support, text) \
  SubroutineInfo{Subroutine::name, #name, result, arguments, CostClass::cost, DVM_DESTRUCTIVE_##destructive, support, text},
#include "vm/dif/subroutines.def"
#undef DVM_DESTRUCTIVE_yes
#undef DVM_DESTRUCTIVE_no
};

inline constexpr unsigned kSubroutineCount = kSubroutines.size();
constexpr const SubroutineInfo& info(Subroutine id) { return kSubroutines[static_cast<unsigned>(id)]; }

static_assert([] {
  for (unsigned i = 0; i < kSubroutineCount; i++)
    if (static_cast<unsigned>(kSubroutines[i].id) != i) return false;
  return true;
}());

}  // namespace dvm::dif
