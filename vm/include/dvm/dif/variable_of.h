#pragma once
// The variable that an instruction loads or stores, by the table of the DIFO.

#include "dvm/dif/difo.h"

namespace dvm::dif {

// Null: there is none, or the DIFO does not declare it.
inline const Variable* variable_of(const Difo& difo, Instruction in) {
  for (const Variable& variable : difo.variables)
    if (variable.scope == info(in.opcode()).scope && variable.id == in.index()) return &variable;
  return nullptr;
}

// The same, if the instruction stores to a user variable; else null.
inline const Variable* stored_variable(const Difo& difo, Instruction in) {
  return has_format(in, Format::stv) ? variable_of(difo, in) : nullptr;
}

}  // namespace dvm::dif
