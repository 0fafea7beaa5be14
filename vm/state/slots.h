#pragma once
// Storage of the scalar variables of one scope, found by id: globals (VariableState) and clause-locals (MachineState), and the
// types of thread-local variables and associative arrays, whose values are dynamic variables.
//
//   slots     One for each variable id from kFirstUserVariable up. A load is a bounds check and a read of `value`.
//   storage   Memory of by-reference variables, 8-aligned: strsize + 1 bytes for a string, its size for bytes.
//
// `value` is an integer, extended to 64 bits by its type, or the address of the storage; 0 in a by-reference slot is D's NULL. As
// in DTrace, an unset string is "" here, but NULL as a dynamic variable. An unset structure is all zeros. Probe context: only the
// constructor allocates.

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
  uint64_t mask = ~uint64_t{0};  // the bits of an integer of the type
  uint64_t sign = 0;             // the sign bit; 0: unsigned
  // Of a thread-local variable: the node that was found last. It may have been reused for another variable.
  const DynamicNode* recent = &kNoNode;

  uint64_t converted(uint64_t integer) const noexcept { return ((integer & mask) ^ sign) - sign; }
};

// The slots of a scope, by id - kFirstUserVariable. Native code reads them.
struct SlotTable {
  VariableSlot* first = nullptr;
  size_t count = 0;
};

class Slots {
 public:
  // with_storage: false if only the types are needed.
  Slots(std::span<const dif::Variable> variables, dif::Scope scope, size_t strsize, bool with_storage);
  Slots(const Slots&) = delete;
  Slots& operator=(const Slots&) = delete;

  // Null: the session has no such variable.
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
