#pragma once
// A DIFO: an object of DIF with the tables that its instructions index. It is plain data from anywhere, so nothing may run it:
// engines take a VerifiedDifo (dvm/vm/verify.h) only.
//
//   text       instructions, the last one a ret
//   integers   operands of setx
//   strings    operands of sets: NUL-terminated strings one after another, entered at a byte offset
//   variables  every user variable that the text names, with its type

#include <cstdint>
#include <string>
#include <vector>

#include "dvm/dif/instruction.h"

namespace dvm::dif {

enum class TypeKind : uint8_t {
  none,     // no value: statements evaluated for their effect
  integer,  // by value, 1, 2, 4 or 8 bytes
  string,   // by reference, at most strsize bytes with its NUL
  bytes,    // by reference, `size` bytes: structures, arrays, copyin()
};

// Type of a value as the machine sees it. size is in bytes; for a string it is 0, strsize rules.
struct DataType {
  TypeKind kind = TypeKind::none;
  bool is_signed = false;
  bool is_char = false;  // a char: printa and %c treat it so
  uint32_t size = 0;
  std::string name;  // how D spells the type, for listings and messages: "int", "string", "struct foo *"

  bool by_ref() const { return kind == TypeKind::string || kind == TypeKind::bytes; }
  friend bool operator==(const DataType&, const DataType&) = default;
};

enum class Scope : uint8_t { global, thread, clause };
enum class VariableKind : uint8_t { scalar, array };

// One row of the variable table. Ids are unique within a scope, from kFirstUserVariable up.
struct Variable {
  std::string name;
  uint16_t id = 0;
  Scope scope = Scope::global;
  VariableKind kind = VariableKind::scalar;
  bool is_read = false;
  bool is_written = false;
  DataType type;
};

struct Difo {
  std::vector<Instruction> text;
  std::vector<uint64_t> integers;
  std::string strings;
  std::vector<Variable> variables;
  DataType result;
};

}  // namespace dvm::dif
