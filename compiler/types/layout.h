#pragma once
// The layout of structures and unions, as the x86-64 ABI has it and gcc does it.

#include <string>

#include "compiler/types/type.h"

namespace dvm::compiler {

// What objects of a type are aligned to.
uint64_t alignment_of(const Type& type);

// Places members one after another, or for a union all at 0. A bit-field lies in a unit of its declared type, which it shares
// with what stands before it where that leaves room; only a named one aligns the record.
class StructLayout {
 public:
  // alignment: what a record is aligned to at least.
  explicit StructLayout(Type& record, bool is_packed = false, uint64_t alignment = 1);

  // alignment: likewise of a member. A packed one lies at any byte.
  void add(std::string name, const Type* type, bool is_packed = false, uint64_t alignment = 1);
  // False if it would lie in nine bytes, which only a packed one can.
  [[nodiscard]] bool add_bits(std::string name, const Type* type, unsigned width);
  // The members of a record without a name become the record's own.
  void add_anonymous(const Type* record);
  void close();

 private:
  uint64_t place(uint64_t size, uint64_t alignment);  // where an object comes to lie
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
