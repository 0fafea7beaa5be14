#pragma once
// Passes over Code. Each leaves code that computes the same values and faults, in the same order, with the same effects.
//
// - number_values   computes common subexpressions once, folds constants, decides branches on constants
// - remove_dead     removes values that are not read
// - join_moves      computes a value in the register to which it would be moved
// - sink_loads      loads constants and variables where they are needed, so that they hold no register before
//
// A value that may change between two evaluations is evaluated twice: memory after a write to memory, a variable after a store to
// it, and always elements of associative arrays and calls.

#include <functional>

#include "compiler/lower/code.h"

namespace dvm::compiler {

void number_values(Code& code);
void remove_dead(Code& code);
void join_moves(Code& code);
void sink_loads(Code& code);

// The clause-local variables that values are spilled to, by number. None: nothing is spilled. May return null: there are no more.
using SpillVariables = std::function<const Symbol*(size_t)>;

// Gives registers 1 to 7 to those of the code. Values that do not all fit are loaded anew where they are read. False: more values
// are needed at once than there are registers and variables.
bool assign_registers(Code& code, const SpillVariables& variables);

// Instructions and tables of code whose registers are assigned.
dif::Difo encode(const Code& code, dif::DataType result);

// All of it; nothing when neither registers nor variables suffice.
std::optional<dif::Difo> make_difo(const Code& code, const dif::DataType& result, bool optimized,
                                   const SpillVariables& variables);

}  // namespace dvm::compiler
