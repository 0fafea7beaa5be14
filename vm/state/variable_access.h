#pragma once
// Loads and stores of a script's own variables, for all engines. An id that the session does not know is the fault illop: a
// verified DIFO was then run with the state of another program. Probe context.

#include "vm/state/state.h"

namespace dvm::vm {

inline uint64_t load_scalar(State& state, Slots& slots, unsigned id) noexcept {
  const VariableSlot* slot = slots.find(id);
  if (slot) return slot->value;
  state.set_fault(dif::Fault::illop);
  return 0;
}

// Stores into storage of by-reference type: a copy of what value refers to.
void store_reference(State& state, VariableSlot& slot, uint64_t value) noexcept;

inline void store_scalar(State& state, Slots& slots, unsigned id, uint64_t value) noexcept {
  VariableSlot* slot = slots.find(id);
  if (!slot) return state.set_fault(dif::Fault::illop);
  if (slot->storage) return store_reference(state, *slot, value);
  slot->value = slot->converted(value);
}

// Thread-local scalars, and elements of associative arrays with the tuple stack as key.
uint64_t load_dynamic(State& state, unsigned id, bool thread, bool keyed) noexcept;
void store_dynamic(State& state, unsigned id, bool thread, bool keyed, uint64_t value) noexcept;

// Pushes what lies at an address, checked: a string (limit 0: strsize) or bytes.
void push_reference(State& state, dif::PushType type, uint64_t address, uint64_t size) noexcept;

}  // namespace dvm::vm
