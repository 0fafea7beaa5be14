#pragma once
// Passes over Code. Each leaves code that computes the same values and faults, in the same order, with the same effects.
//
// - number_values   computes common subexpressions once, folds constants, decides branches on constants and on equal values
// - remove_dead     removes values that are not read
// - join_moves      computes a value directly in the register to which it would be moved
// - sink_loads      loads constants and variables right before their use, so that they occupy a register for a shorter time
//
// A value that may change between two evaluations is evaluated twice: memory after a write to memory, and a variable after a
// store to it. Elements of associative arrays and calls are always evaluated again.

#include <functional>

#include "compiler/lower/code.h"

namespace dvm::compiler {

bool number_values(Code& code);  // true: a branch was decided, so another pass may know more
void remove_dead(Code& code);
void join_moves(Code& code);
void sink_loads(Code& code);

// The clause-local variables to which values are spilled, by number. An empty function: nothing is spilled. Null: no more are
// left.
using SpillVariables = std::function<const Symbol*(size_t)>;

// Maps the virtual registers to %r1 to %r7. Values that do not fit are spilled, and loaded again before each use. False: more
// values are live at once than registers and variables can hold.
bool assign_registers(Code& code, const SpillVariables& variables);

// Instructions and tables of code whose registers are assigned.
dif::Difo encode(const Code& code, dif::DataType result);

// Runs the passes (if optimized), assign_registers() and encode(). Nothing: assign_registers() failed.
std::optional<dif::Difo> make_difo(const Code& code, const dif::DataType& result, bool optimized,
                                   const SpillVariables& variables);

}  // namespace dvm::compiler
