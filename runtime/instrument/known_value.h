#pragma once
// Static knowledge about values before DIF runs, for the analysis in capture.cpp. A value is that of a register, or of a
// clause-local or thread-local variable. It is a constant, a known word plus a constant, the address of a copy of memory at such
// a word, or unknown.

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "dvm/dif/difo.h"
#include "dvm/dif/instruction.h"
#include "dvm/dif/opcode.h"
#include "runtime/instrument/capture_needs.h"

namespace dvm::runtime::known {

struct KnownValue {
  enum class Kind : uint8_t {
    unknown,
    constant,  // `number`.
    word,      // `word` + `number`.
    copy,      // The address, in D memory, of a copy of the memory at `word` + `number`.
    limited,   // `word` or, on another path, `number`: a size with a limit.
    scaled,    // 8 * (`word` + `number`), the address of a uf_entry_t.
    shifted,   // (`word` + `number`) << 32, an intermediate step of `narrow`.
    narrow,    // The lower 32 bits of `word` + `number`.
    other,     // An integer that another firing has stored in `variable`, plus a constant.
    file,      // 8 * narrow plus less than 8: an index of dvm_file_number[] and dvm_file_text[].
  };
  Kind kind = Kind::unknown;
  Word word;
  uint64_t number = 0;
  const dif::Variable* variable = nullptr;

  static KnownValue constant(uint64_t number) { return {Kind::constant, {}, number}; }
  static KnownValue of_other_firing(const dif::Variable& variable) { return {Kind::other, {}, 0, &variable}; }
  static KnownValue of(const Word& word) { return {Kind::word, word, 0}; }
  // A constant that can be an address of the process (of a variable) becomes a word; other values are not changed.
  static KnownValue of_variable(const KnownValue& value);
  bool is_constant() const { return kind == Kind::constant; }
  bool is_word() const { return kind == Kind::word; }
  bool is_address() const { return kind == Kind::word || kind == Kind::copy; }
  friend bool operator==(const KnownValue&, const KnownValue&) = default;
};

// Clause-local variables by their number; thread-local ones by kOfThread plus their number.
using Locals = std::map<unsigned, KnownValue>;
inline constexpr unsigned kOfThread = 1u << 16;

struct KnownState {
  std::array<KnownValue, dif::kRegisters> registers{};
  std::vector<KnownValue> tuple;
  Locals locals;

  KnownState() { registers[0] = KnownValue::constant(0); }
};

// The state where two paths through the code meet.
void join(KnownState& into, const KnownState& from);
void join_locals(Locals& into, const Locals& from);
// Adds what is known after a clause to the variables that the next clause may read. A predicate may keep a clause from storing,
// so only addresses stay, which are no more than a hint.
void keep_words(Locals& variables, const Locals& after);

// The value of an operation of format log. Adding and subtracting keep an address; the others are known for constants, and where
// they make the index of an open file from its descriptor.
KnownValue of_operation(dif::Opcode op, const KnownValue& a, const KnownValue& b);

}  // namespace dvm::runtime::known
