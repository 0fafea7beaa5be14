#pragma once
// Takes over variables that a clause has computed in the traced thread, when the clause continues in dvm.

#include <cstddef>
#include <cstdint>
#include <span>

#include "dvm/dif/opcode.h"
#include "dvm/vm/state.h"

namespace dvm::vm {

// An integer variable, or a thread-local string.
struct VariableValue {
  dif::Scope scope = dif::Scope::thread;
  uint16_t id = 0;
  uint64_t value = 0;  // of a string: 0 is NULL
  bool is_text = false;
  std::span<const std::byte> text{};  // its characters, up to a NUL or the end
};

// Sets variables for the current firing, after begin_firing(). Keeps what global variables had before in place of their values.
// Probe context.
void set_variables(MachineState& state, std::span<VariableValue> values) noexcept;
// Frees those of them that are thread-local, and gives global variables back what they had before.
void clear_variables(MachineState& state, std::span<const VariableValue> values) noexcept;

}  // namespace dvm::vm
