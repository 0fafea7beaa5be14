#pragma once
// A DIFO: an object of DIF with the tables that its instructions index. It is unchecked data, possibly from a file. Engines do
// not take it; they take a VerifiedDifo (dvm/vm/verify.h).
//
//   text       the instructions; the last one is a ret
//   integers   the operands of setx
//   strings    the operands of sets: NUL-terminated strings, one after another, addressed by byte offset
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

// The type of a value in DIF. size is in bytes; for a string it is 0, because option strsize sets it.
struct DataType {
  TypeKind kind = TypeKind::none;
  bool is_signed = false;
  bool is_char = false;  // a char, which printa and %c print as a character
  uint32_t size = 0;
  std::string name;  // the type in D, for listings and messages: "int", "string", "struct foo *"

  bool by_ref() const { return kind == TypeKind::string || kind == TypeKind::bytes; }
  friend bool operator==(const DataType&, const DataType&) = default;
};

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
