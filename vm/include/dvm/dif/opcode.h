#pragma once
// The opcodes of DIF and their properties, made from vm/dif/opcodes.def.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace dvm::dif {

// The meaning of the 24 bits below the opcode; instruction.h draws each format.
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

// How one use of an opcode or a subroutine is priced.
enum class CostClass : uint8_t {
  // Not at all: the verifier rejects it, or it always faults.
  none,
  // One price.
  flat,
  // One price, and a price per byte.
  bytes,
  // One price, and a second one if the variable that is looked up exists.
  found,
  // One price, and a price per byte of a string or structure, or a second price if an integer creates or frees the variable.
  stored,
  // The price of the subroutine or built-in variable instead.
  called,
};

// The memory that an opcode reads or writes.
enum class Width : uint8_t {
  none,  // no memory, or the size of a variable's type
  s8,
  u8,
  s16,
  u16,
  s32,
  u32,
  x64,
  text,  // strings
  span   // an operand has the number of bytes
};

// The bytes of an integer in memory; 0: it is not an integer.
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

// The words of the columns `faults` and `scope`.
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
