#pragma once
// The opcodes of DIF and what is known of each, made from vm/dif/opcodes.def.

#include <array>
#include <cstdint>
#include <string_view>

namespace dvm::dif {

// How the 24 bits below the opcode are read; instruction.h draws them.
enum class Format : uint8_t {
  none,
  log,
  r1rd,
  cmp,
  tst,
  branch,
  load,
  store,
  ret,
  setx,
  sets,
  lda,
  ldv,
  stv,
  call,
  pushts,
  xlate
};

// What a cost model needs to know: flat, a price a use; bytes, a price a use and one a byte; found, a price a use and one where
// the variable that is looked up is there; called, the variable or subroutine that is read or called is priced instead.
enum class CostClass : uint8_t { flat, bytes, found, called };

enum class Opcode : uint8_t {
#define DVM_OPCODE(number, name, mnemonic, format, cost, text) name = number,
#include "vm/dif/opcodes.def"
};

struct OpcodeInfo {
  Opcode opcode;
  std::string_view mnemonic;
  Format format;
  CostClass cost;
  std::string_view text;
};

inline constexpr std::array kOpcodes = {
#define DVM_OPCODE(number, name, mnemonic, format, cost, text) \
  OpcodeInfo{Opcode::name, mnemonic, Format::format, CostClass::cost, text},
#include "vm/dif/opcodes.def"
};

// Opcodes are numbered from 1 without gaps, so a row is found by its number.
inline constexpr unsigned kOpcodeCount = kOpcodes.size();
constexpr bool is_opcode(unsigned number) { return number >= 1 && number <= kOpcodeCount; }
constexpr const OpcodeInfo& info(Opcode opcode) { return kOpcodes[static_cast<unsigned>(opcode) - 1]; }

static_assert(kOpcodeCount == 79);
static_assert([] {
  for (unsigned i = 0; i < kOpcodeCount; i++)
    if (static_cast<unsigned>(kOpcodes[i].opcode) != i + 1) return false;
  return true;
}());

}  // namespace dvm::dif
