#pragma once
// Types of D values: those of C on LP64 (char is signed), and string. The TypeTable makes each Type once. Types are compared by
// address, after resolve() has stripped typedefs.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dvm/dif/difo.h"

namespace dvm::compiler {

enum class TypeClass : uint8_t { error, void_, integer, floating, string, pointer, array, record, enumeration, function };

struct Type;

// Supplies the members of a record that the script does not describe. They are added when the first one is looked up.
class MemberSource {
 public:
  virtual void add_members(const Type& record) = 0;

 protected:
  ~MemberSource() = default;
};

// A member of a structure or union. Bit-fields lie in the storage unit of `storage` bytes at `offset`, `shift` bits up.
struct Field {
  std::string name;
  const Type* type = nullptr;
  uint64_t offset = 0;
  unsigned bits = 0;  // 0: no bit-field
  unsigned shift = 0;
  unsigned storage = 0;
};

struct Type;

// Lies behind the subobject at `offset` by the number that is found `slot` bytes before the address at the beginning of that.
struct VirtualBase {
  const Type* type = nullptr;
  uint64_t offset = 0;
  uint64_t slot = 0;  // 0: not known
};

struct Type {
  TypeClass cls = TypeClass::error;
  std::string name;    // as D spells it
  std::string suffix;  // the part of the name that follows a declared name: "[3]" of "int [3]"
  uint64_t size = 0;
  uint64_t align = 1;
  uint64_t own_align = 0;  // set by an attribute; 0: it follows from the members or the class
  bool is_signed = false;
  bool is_char = false;
  bool is_bool = false;
  bool is_complete = true;
  bool is_open = false;  // a record or enumeration whose members are being declared
  bool is_union = false;
  bool is_stack = false;       // the value of a stack action, recorded or kept in a variable
  bool is_of_library = false;  // declared by a library; a script may redefine it

  const Type* target = nullptr;                              // of a pointer, an array or a function's result
  const Type* alias = nullptr;                               // of a typedef, or of a type with qualifiers
  uint64_t count = 0;                                        // of an array
  std::vector<Field> fields;                                 // of a record, with those of its anonymous members
  std::vector<std::pair<std::string, int64_t>> enumerators;  // of an enumeration

  std::vector<VirtualBase> virtual_bases{};  // of a class

  MemberSource* source = nullptr;  // of a record without fields yet

  const Field* find(std::string_view field) const;
};

const Type& resolve(const Type& type);

inline TypeClass cls(const Type* t) { return resolve(*t).cls; }
inline bool is_error(const Type* t) { return cls(t) == TypeClass::error; }
inline bool is_void(const Type* t) { return cls(t) == TypeClass::void_; }
inline bool is_string(const Type* t) { return cls(t) == TypeClass::string; }
inline bool is_record(const Type* t) { return cls(t) == TypeClass::record; }
inline bool is_floating(const Type* t) { return cls(t) == TypeClass::floating; }
inline bool is_function_type(const Type* t) { return cls(t) == TypeClass::function; }
inline bool is_array(const Type* t) { return cls(t) == TypeClass::array; }
bool is_integer(const Type* t);  // integers and enumerations
bool is_pointer(const Type* t);  // pointers and arrays
bool is_scalar(const Type* t);   // has a value that may be tested for zero
bool is_key(const Type* t);      // may index an associative array or aggregation
bool is_char_pointer(const Type* t);
bool is_string_like(const Type* t);  // a string, or what a string may be read from
inline bool is_stack(const Type* t) { return resolve(*t).is_stack; }
inline bool is_kept_stack(const Type* t) { return is_stack(t) && is_record(t); }
inline bool is_signed(const Type* t) { return resolve(*t).is_signed; }

// The same type, ignoring typedefs and qualifiers. All functions have the same type in D, whatever they take and return.
bool is_same(const Type* a, const Type* b);
// Values are represented by addresses: strings, records, arrays, and everything that does not fit into a register.
bool is_by_reference(const Type* t);
// A complete type with a size, of which objects can be made.
bool is_object(const Type* t);

// The type that a pointer points to, or the element type of an array.
const Type* target_of(const Type* t);

// The type for DIF, which knows only kinds and sizes.
dif::DataType data_type(const Type* t);

}  // namespace dvm::compiler
