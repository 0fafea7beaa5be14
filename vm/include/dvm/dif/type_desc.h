#pragma once
// Types, function arguments and data of a traced program, from its debug information. The description of a type refers to other
// types by TypeRefs, which only their maker (TypeCatalog) can resolve. So the description of a structure does not include those
// of the types to which it points.

#include <cstdint>
#include <string>
#include <vector>

namespace dvm::dif {

using TypeRef = uint64_t;  // 0: void

enum class DescribedAs : uint8_t {
  unknown,  // a type without a counterpart in D, or damaged debug information
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
  qualified,  // const, volatile or the like; `target` is the unqualified type
};

struct TypeDesc {
  DescribedAs as = DescribedAs::unknown;
  std::string name;  // without struct, union, enum; empty: it has none
  uint64_t size = 0;
  bool is_signed = false;
  bool is_char = false;
  bool is_complete = true;       // false: declared but not defined
  bool has_variants = false;     // a Rust enumeration whose variants have members. A discriminant says which are there
  TypeRef target = 0;            // of a pointer, array, alias or qualified type
  uint64_t line = 0;             // of the declaration, to distinguish types of the same name
  std::vector<uint64_t> counts;  // of an array: size of each dimension, outermost first; 0: unknown
};

// A member of a structure or union, or a base of a class. A bit-field lies `shift` bits up in the `storage` bytes at offset.
struct MemberDesc {
  std::string name;  // empty: its members are accessed as members of the outer type
  TypeRef type = 0;
  uint64_t offset = 0;
  unsigned bits = 0;  // 0: no bit-field
  unsigned shift = 0;
  unsigned storage = 0;
  bool is_base = false;
  bool is_virtual = false;  // a base whose offset is known only while the program runs
};

struct EnumeratorDesc {
  std::string name;
  int64_t value = 0;
};

// Bytes of an argument that lie in argument word `arg`, from bit `shift` on.
struct ArgumentPart {
  uint64_t offset = 0, size = 0;  // bytes in the argument
  unsigned arg = 0;
  unsigned shift = 0;
  friend bool operator==(const ArgumentPart&, const ArgumentPart&) = default;
};

// args[n] of a probe.
struct ArgumentDesc {
  std::string name;
  TypeRef type = 0;
  unsigned arg = 0;           // N of the argN that holds it
  bool is_word = false;       // a 64-bit number without a type, such as the offset of a return
  bool is_in_memory = false;  // argN is its address

  std::string problem;  // why its location is unknown; empty: it is known
  // Its parts, if it has no address and is not in argN alone. Bytes outside of all parts are unknown.
  std::vector<ArgumentPart> parts{};
  std::string spelling{};  // the type for listings; empty: as spelled in D
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
