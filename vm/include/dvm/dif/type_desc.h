#pragma once
// Types, functions' arguments and data of a traced program, as its debug information describes them. Descriptions of one type
// name others by a TypeRef, which only the one who made it can follow; so a structure is described without what it points at.

#include <cstdint>
#include <string>
#include <vector>

namespace dvm::dif {

using TypeRef = uint64_t;  // 0: void

enum class DescribedAs : uint8_t {
  unknown,  // what D has no counterpart for, or a damaged description
  void_,
  integer,
  floating,
  pointer,  // also a reference of C++
  array,
  structure,  // also a class of C++
  union_,
  enumeration,
  function,
  alias,      // a typedef
  qualified,  // const, volatile and kin: the target is the type
};

struct TypeDesc {
  DescribedAs as = DescribedAs::unknown;
  std::string name;  // without struct, union, enum; empty: it has none
  uint64_t size = 0;
  bool is_signed = false;
  bool is_char = false;
  bool is_complete = true;       // false: declared only
  TypeRef target = 0;            // of a pointer, array, alias, qualified type
  uint64_t line = 0;             // where it was declared: tells types of one name apart
  std::vector<uint64_t> counts;  // of an array, a dimension each from the outside in; 0: unknown
};

// A member of a structure or union, or a base of a class. A bit-field lies `shift` bits up in the `storage` bytes at offset.
struct MemberDesc {
  std::string name;  // empty: its own members are named without it
  TypeRef type = 0;
  uint64_t offset = 0;
  unsigned bits = 0;  // 0: no bit-field
  unsigned shift = 0;
  unsigned storage = 0;
  bool is_base = false;
};

struct EnumeratorDesc {
  std::string name;
  int64_t value = 0;
};

// Bytes of an argument that are in a word: from bit `shift` of argN on.
struct ArgumentPart {
  uint64_t offset = 0, size = 0;  // in the argument
  unsigned arg = 0;
  unsigned shift = 0;
  friend bool operator==(const ArgumentPart&, const ArgumentPart&) = default;
};

// args[n] of a probe.
struct ArgumentDesc {
  std::string name;
  TypeRef type = 0;
  unsigned arg = 0;           // it is argN
  bool is_word = false;       // a 64-bit number without a type: the offset of a return
  bool is_in_memory = false;  // at the address argN
  std::string problem;        // why it is unknown; empty: it is not
  // Its parts, if it has no address and is not in argN alone. Bytes outside of all parts are unknown.
  std::vector<ArgumentPart> parts{};
  std::string spelling{};  // the type as a listing shows it; empty: as D spells it
};

// A named constant: an enumerator.
struct ConstantDesc {
  TypeRef type = 0;
  int64_t value = 0;
};

// A variable of the program.
struct DataDesc {
  std::string module;
  uint64_t address = 0;  // in the process
  bool has_type = false;
  TypeRef type = 0;
};

}  // namespace dvm::dif
