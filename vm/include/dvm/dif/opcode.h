#pragma once
// The opcodes of DIF and their properties, made from vm/dif/opcodes.def.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dvm::dif {

// How the 24 bits below the opcode are read; instruction.h draws each format.
enum class Format : uint8_t {
  none,
  log,
  copy,
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
  pushv,
  xlate
};

// The prices of a use of an opcode or a subroutine.
enum class CostClass : uint8_t {
  none,    // no price: the verifier rejects it, or it always faults
  flat,    // one price
  bytes,   // one price, and one per byte
  found,   // one price, and one more if the variable that is looked up exists
  stored,  // one price, and one per byte of a string or structure, or one more if an integer makes the variable appear or vanish
  called,  // the price of the subroutine or built-in variable instead
};

// The memory that an opcode reads or writes.
enum class Width : uint8_t {
  none,  // none, or that of the type of a variable
  s8,
  u8,
  s16,
  u16,
  s32,
  u32,
  x64,
  text,  // strings
  span   // as many bytes as an operand says
};

// The bytes of an integer in memory; 0: it is none.
constexpr unsigned bytes_of(Width width) {
  constexpr unsigned kBytes[] = {0, 1, 1, 2, 2, 4, 4, 8, 0, 0};
  return kBytes[static_cast<size_t>(width)];
}
constexpr bool is_signed(Width width) { return width == Width::s8 || width == Width::s16 || width == Width::s32; }

enum class Scope : uint8_t { global, thread, clause };

// The use that an opcode makes of the tuple stack.
enum class TupleUse : uint8_t {
  none,
  push,
  pop,
  clear,
  key,       // reads all of it as the key of a variable, and leaves it
  arguments  // reads all of it as the arguments of a subroutine, and empties it
};

enum class Opcode : uint8_t {
#define DVM_OPCODE(number, name, ...) name = number,
#include "vm/dif/opcodes.def"
};

struct OpcodeInfo {
  Opcode opcode;
  std::string_view mnemonic;
  Format format;
  CostClass cost;
  Width width;
  bool can_fault;
  std::optional<Scope> scope;  // of the variable that it names
  TupleUse tuple;
  std::string_view text;
};

// The words of the column `faults` and `scope`.
namespace column {
inline constexpr bool faults_may = true, faults_never = false;
inline constexpr std::optional<Scope> scope_none, scope_global = Scope::global, scope_thread = Scope::thread,
                                                  scope_clause = Scope::clause;
}  // namespace column

inline constexpr std::array kOpcodes = {
#define DVM_OPCODE(number, name, mnemonic, format, cost, width, faults, scope, tuple, text) \
  OpcodeInfo{Opcode::name,          mnemonic,        Format::format,                        \
             CostClass::cost,       Width::width,    column::faults_##faults,               \
             column::scope_##scope, TupleUse::tuple, text},
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
