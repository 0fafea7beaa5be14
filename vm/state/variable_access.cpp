// Covered by tests/unit/vm/state_test.cpp and the conformance tests of loads and stores.

#include "vm/state/variable_access.h"

#include <algorithm>
#include <cstring>

#include "common/hot.h"
#include "vm/state/memory_access.h"

namespace dvm::vm {

namespace {

DynamicKey key_of(const State& state, unsigned id, bool thread, bool keyed) noexcept {
  return {static_cast<uint16_t>(id), thread, thread && state.firing ? state.firing->tid : 0,
          keyed ? state.tuple.view() : std::span<const TupleEntry>{}};
}

VariableSlot* type_of(State& state, unsigned id, bool thread) noexcept {
  VariableSlot* slot = (thread ? state.variables.threads : state.variables.globals).find(id);
  if (!slot) state.set_fault(dif::Fault::illop);
  return slot;
}

}  // namespace

void store_reference(State& state, VariableSlot& slot, uint64_t value) noexcept {
  if (value == 0) {
    slot.value = 0;
    return;
  }
  if (slot.kind == dif::TypeKind::string) {
    const auto text = string_at(state, value);
    if (!text) return;
    std::memmove(slot.storage, text->data(), text->size());
    slot.storage[text->size()] = std::byte{0};
    state.units += text->size() + 1;
  } else {
    if (!copy_bytes(state, value, {slot.storage, slot.capacity})) return;
    state.units += slot.capacity;
  }
  slot.value = address_of(slot.storage);
}

DVM_HOT uint64_t load_dynamic(State& state, unsigned id, bool thread, bool keyed) noexcept {
  VariableSlot* type = type_of(state, id, thread);
  if (!type) return 0;
  if (const DynamicNode* node = state.variables.dynamic.find(key_of(state, id, thread, keyed))) {
    if (thread && !node->has_tuple) type->recent = node;
    state.units++;
    return node->value;
  }
  return type->kind == dif::TypeKind::bytes ? address_of(state.variables.zeros.data()) : 0;
}

DVM_HOT void store_dynamic(State& state, unsigned id, bool thread, bool keyed, uint64_t value) noexcept {
  const VariableSlot* type = type_of(state, id, thread);
  if (!type) return;
  DynamicVariables& dynamic = state.variables.dynamic;
  const DynamicKey key = key_of(state, id, thread, keyed);
  if (type->capacity == 0 || value == 0) {
    state.units += dynamic.store(key, type->converted(value));
    return;
  }
  if (type->kind == dif::TypeKind::string) {
    const auto text = string_at(state, value);
    if (!text) return;
    dynamic.store_bytes(key, std::as_bytes(std::span(*text)), true);
    state.units += text->size() + 1;
  } else if (const std::byte* from = load_bytes(state, value, type->capacity)) {
    dynamic.store_bytes(key, {from, type->capacity}, false);
    state.units += type->capacity;
  }
}

void store_text(State& state, unsigned id, std::span<const std::byte> text) noexcept {
  const VariableSlot* type = type_of(state, id, true);
  if (!type || type->kind != dif::TypeKind::string) return;
  const auto* characters = reinterpret_cast<const char*>(text.data());
  const size_t length = ::strnlen(characters, std::min(text.size(), state.variables.strsize));
  state.variables.dynamic.store_bytes(key_of(state, id, true, false), text.first(length), true);
}

DVM_HOT void push_reference(State& state, dif::PushType type, uint64_t address, uint64_t size) noexcept {
  const std::byte* bytes = nullptr;
  if (type == dif::PushType::string) {
    const size_t limit = size == 0 ? state.variables.strsize : std::min<uint64_t>(size, state.variables.strsize);
    const auto text = address == 0 ? std::optional(std::string_view()) : string_at(state, address, limit);
    if (!text) return;
    size = text->size();
    bytes = reinterpret_cast<const std::byte*>(text->data());
  } else if (bytes = load_bytes(state, address, size); !bytes) {
    return;
  }
  state.units += size;
  state.tuple.push({address, size, type, bytes});
}

}  // namespace dvm::vm
