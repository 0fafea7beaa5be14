#pragma once
// Loads and stores of user variables, for all engines. An unknown id raises the fault illop: a verified DIFO was run with the
// state of another program. Probe context.

#include "vm/state/state.h"

namespace dvm::vm {

inline uint64_t load_scalar(State& state, Slots& slots, unsigned id) noexcept {
  const VariableSlot* slot = slots.find(id);
  if (slot) return slot->value;
  state.set_fault(dif::Fault::illop);
  return 0;
}

// Copies the string or bytes at address `value` to the storage of the slot.
void store_reference(State& state, VariableSlot& slot, uint64_t value) noexcept;

inline void store_scalar(State& state, Slots& slots, unsigned id, uint64_t value) noexcept {
  VariableSlot* slot = slots.find(id);
  if (!slot) return state.set_fault(dif::Fault::illop);
  if (slot->storage) return store_reference(state, *slot, value);
  slot->value = slot->converted(value);
}

// Thread-local scalars, and elements of associative arrays; the tuple stack has their keys.
uint64_t load_dynamic(State& state, unsigned id, bool thread, bool keyed) noexcept;
void store_dynamic(State& state, unsigned id, bool thread, bool keyed, uint64_t value) noexcept;
// Stores a string in a thread-local variable, as far as it has room: up to a NUL, or all of it.
void store_text(State& state, unsigned id, std::span<const std::byte> text) noexcept;

// Checks an address and pushes the string (size: limit; 0: strsize) or the bytes there.
void push_reference(State& state, dif::PushType type, uint64_t address, uint64_t size) noexcept;

}  // namespace dvm::vm
