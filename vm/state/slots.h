#pragma once
// Storage of the scalar variables of one scope, found by id: globals (VariableState) and clause-locals (MachineState), and the
// types of thread-local variables and associative arrays, whose values are dynamic variables.
//
//   slots     one a variable id from kFirstUserVariable up; a load is one bounds check and `value`
//   storage   behind slots of by-reference type: strsize + 1 bytes for a string, its size for bytes, 8-aligned
//
// value is the integer itself, extended to 64 bits from the size of its type as C converts it, or the address of storage; 0 in a
// by-reference slot is D's NULL. As in DTrace an unset string is "" here, and NULL as a dynamic variable; an unset structure is
// all zeros. Used in probe context: only the constructor allocates.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dvm/dif/difo.h"
#include "dvm/dif/variable.h"
#include "vm/state/dynamic_node.h"

namespace dvm::vm {

struct VariableSlot {
  uint64_t value = 0;
  std::byte* storage = nullptr;  // null: the value itself is kept
  uint32_t capacity = 0;         // bytes of storage
  dif::TypeKind kind = dif::TypeKind::none;
  bool known = false;
  uint64_t mask = ~uint64_t{0};          // the bits that an integer of the type has
  uint64_t sign = 0;                     // the highest of them, if it is a sign
  const DynamicNode* recent = &kNoNode;  // of a thread-local variable: the node that was found last, now perhaps another's

  uint64_t converted(uint64_t integer) const noexcept { return ((integer & mask) ^ sign) - sign; }
};

// The slots of a scope, by id - kFirstUserVariable. Native code reads them here.
struct SlotTable {
  VariableSlot* first = nullptr;
  size_t count = 0;
};

class Slots {
 public:
  // with_storage is false where only the types matter.
  Slots(std::span<const dif::Variable> variables, dif::Scope scope, size_t strsize, bool with_storage);
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  // Null when the session has no such variable.
  VariableSlot* find(unsigned id) noexcept {
    const size_t at = id - dif::kFirstUserVariable;
    return at < table.count && table.first[at].known ? &table.first[at] : nullptr;
  }
  void reset() noexcept;
  std::span<std::byte> storage() noexcept { return storage_; }
  // Bytes of the largest by-reference value of these variables.
  size_t largest() const { return largest_; }

  SlotTable table;

 private:
  void place_storage();

  std::vector<VariableSlot> slots_;
  std::vector<std::byte> storage_;
  size_t largest_ = 0;
};

}  // namespace dvm::vm
