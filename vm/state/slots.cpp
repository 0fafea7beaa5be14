// Slots are laid out once, when tracing is set up. Covered by tests/unit/vm/state_test.cpp.

#include "vm/state/slots.h"

#include <algorithm>
#include <cstring>

#include "vm/state/address.h"

namespace dvm::vm {

namespace {

constexpr size_t align8(size_t n) { return (n + 7) & ~size_t{7}; }

uint32_t capacity_of(const dif::DataType& type, size_t strsize) {
  if (type.kind == dif::TypeKind::string) return static_cast<uint32_t>(strsize + 1);
  return type.kind == dif::TypeKind::bytes ? type.size : 0;
}

VariableSlot slot_of(const dif::DataType& type, size_t strsize) {
  VariableSlot slot;
  slot.capacity = capacity_of(type, strsize);
  slot.kind = type.kind;
  slot.known = true;
  if (type.kind != dif::TypeKind::integer || type.size == 0 || type.size >= 8) return slot;
  slot.mask = (uint64_t{1} << type.size * 8) - 1;
  if (type.is_signed) slot.sign = uint64_t{1} << (type.size * 8 - 1);
  return slot;
}

}  // namespace

Slots::Slots(std::span<const dif::Variable> variables, dif::Scope scope, size_t strsize, bool with_storage) {
  for (const dif::Variable& variable : variables) {
    if (variable.scope != scope || variable.id < dif::kFirstUserVariable) continue;
    const size_t at = variable.id - dif::kFirstUserVariable;
    if (at >= slots_.size()) slots_.resize(at + 1);
    slots_[at] = slot_of(variable.type, strsize);
    largest_ = std::max<size_t>(largest_, slots_[at].capacity);
  }
  table = {slots_.data(), slots_.size()};
  if (with_storage) place_storage();
}

void Slots::place_storage() {
  size_t bytes = 0;
  for (const VariableSlot& slot : slots_) bytes += align8(slot.capacity);
  storage_.resize(bytes);
  size_t at = 0;
  for (VariableSlot& slot : slots_) {
    if (slot.capacity == 0) continue;
    slot.storage = storage_.data() + at;
    at += align8(slot.capacity);
  }
  reset();
}

void Slots::reset() noexcept {
  for (VariableSlot& slot : slots_) {
    slot.value = address_of(slot.storage);
    if (slot.capacity == 0) continue;
    if (slot.kind == dif::TypeKind::bytes)
      std::memset(slot.storage, 0, slot.capacity);
    else
      *slot.storage = std::byte{0};
  }
}

}  // namespace dvm::vm
