#pragma once
// The layout of structures and unions, by the x86-64 ABI and as GCC does it.

#include <string>

#include "compiler/types/type.h"

namespace dvm::compiler {

// The alignment of objects of a type, in bytes.
uint64_t alignment_of(const Type& type);

// Places members one after another, or for a union all at 0. A bit-field lies in a unit of its declared type. It shares the unit
// with the member before it if there is room. Only a named bit-field aligns the record.
class StructLayout {
 public:
  // alignment: the least alignment of the record, in bytes.
  explicit StructLayout(Type& record, bool is_packed = false, uint64_t alignment = 1);

  // alignment: the least alignment of the member. A packed member may lie at any byte.
  void add(std::string name, const Type* type, bool is_packed = false, uint64_t alignment = 1);
  // False if the bit-field would span nine bytes, which only a packed one can.
  [[nodiscard]] bool add_bits(std::string name, const Type* type, unsigned width);
  // Adds the members of an anonymous structure or union as members of the record itself.
  void add_anonymous(const Type* record);
  void close();

 private:
  uint64_t place(uint64_t size, uint64_t alignment);  // the offset of the next object
  void align_record(uint64_t alignment);
  void extend(uint64_t end_bit);
  // The storage of a bit-field that no unit aligns.
  bool add_packed_bits(std::string name, const Type* type, unsigned width, uint64_t at);

  Type& record_;
  const bool is_packed_;
  uint64_t bits_ = 0;
  uint64_t largest_ = 0;
};

}  // namespace dvm::compiler
