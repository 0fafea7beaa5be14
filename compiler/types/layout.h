#pragma once
// The layout of structures and unions, as the x86-64 ABI has it and gcc does it.

#include <string>

#include "compiler/types/type.h"

namespace dvm::compiler {

// Places members one after another, or for a union all at 0. A bit-field lies in a unit of its declared type, which it shares
// with what stands before it where that leaves room; only a named one aligns the record.
class Layout {
 public:
  explicit Layout(Type& record) : record_(record) { record_.is_open = true; }

  void add(std::string name, const Type* type);
  void add_bits(std::string name, const Type* type, unsigned width);
  // The members of a record without a name become the record's own.
  void add_anonymous(const Type* record);
  void close();

 private:
  uint64_t place(uint64_t size, uint64_t alignment);  // where an object comes to lie
  void align_record(uint64_t alignment);
  void extend(uint64_t end_bit);

  Type& record_;
  uint64_t bits_ = 0;
  uint64_t largest_ = 0;
};

}  // namespace dvm::compiler
