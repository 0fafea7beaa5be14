#pragma once
// Passes over Code. Each leaves code that computes the same values and faults, in the same order, with the same effects.
//
//   number_values   what is computed twice is computed once, constants are folded, branches on constants decided
//   remove_dead     what nobody reads is not computed
//   join_moves      a value is made in the register to which it would be moved
//   sink_loads      constants and variables are loaded when they are needed, so that they hold no register before
//
// What may be another at its second evaluation is evaluated twice: memory after anything that writes to memory, a variable after
// a store to it, elements of associative arrays and calls always.

#include "compiler/lower/code.h"

namespace dvm::compiler {

void number_values(Code& code);
void remove_dead(Code& code);
void join_moves(Code& code);
void sink_loads(Code& code);

// Gives registers 1 to 7 to those of the code, and to code whose constants do not all fit, its constants anew where they are
// read. False: more values are needed at once than there are registers.
bool assign_registers(Code& code);

// Instructions and tables of code whose registers are assigned.
dif::Difo encode(const Code& code, dif::DataType result);

// All of it; nothing when registers do not suffice.
std::optional<dif::Difo> make_difo(const Code& code, const dif::DataType& result, bool optimized);

}  // namespace dvm::compiler
