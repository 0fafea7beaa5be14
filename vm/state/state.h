#pragma once
// The implementation of MachineState and VariableState, for engines, subroutines and getters.
//
// Memory that DIF may touch, as regions:
//
//   load and store   Scratch in use. Storage of globals and of clause-locals. Data of dynamic variables.
//   load only        The string tables of all DIFOs. The zeros that stand for unset structures. Captured memory. The
//                    firing's names.
//
// Only memory_access.h turns a value into a pointer. Probe context.

#include "dvm/vm/state.h"
#include "vm/state/dynamic_variables.h"
#include "vm/state/scratch.h"
#include "vm/state/slots.h"
#include "vm/state/tuple.h"

namespace dvm::vm {

struct VariableState::Impl {
  Impl(std::span<const dif::Variable> variables, const StateLimits& limits);

  size_t strsize;
  std::vector<dif::Variable> declared;
  Slots globals;
  Slots threads;  // types only: values are in `dynamic`
  DynamicVariables dynamic;
  std::vector<std::byte> zeros;           // the value of an unset structure in a dynamic variable
  std::vector<std::string_view> strings;  // tables of all objects, sorted by address
};

// The string of strtok() and the position in it. It is kept until the firing ends.
struct StrtokState {
  std::vector<char> text;
  size_t length = 0;
  size_t at = 0;
};

struct MachineState::Impl : MachineHead {
  Impl(VariableState::Impl& variable_state, const StateLimits& limits, std::span<const dif::Variable> variables);

  bool faulted() const noexcept { return fault.id != dif::Fault::none; }

  const dif::Difo* difo = nullptr;  // the DIFO that runs, or ran last
  uint64_t units = 0;               // of the current operation (Tally::units), for the cost policy
  uint64_t random = 0;
  Tuple tuple;
  VariableState::Impl& variables;
  Slots locals;
  Scratch scratch;
  StrtokState strtok;
};

using State = MachineState::Impl;

}  // namespace dvm::vm
