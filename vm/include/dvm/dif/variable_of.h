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

}  // namespace dvm::dif
