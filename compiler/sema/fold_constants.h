#pragma once
// Folds constant expressions. A folded node is an Integer with the 64-bit result of the operation; a cast cuts it to its type.

#include "compiler/sema/session.h"

namespace dvm::compiler {

// The value converted to the size and signedness of a type.
uint64_t wrap(uint64_t value, const Type* type);

// The result of an operator on 64-bit values, signed or unsigned. A divisor must not be 0.
uint64_t evaluate(Op op, uint64_t left, uint64_t right, bool is_signed);

ExprPtr make_integer(Location where, uint64_t value, const Type* type);

// The constant value of a checked node, or null.
ExprPtr fold(const Unary& e);
ExprPtr fold(const Binary& e, Session& session);
ExprPtr fold(const Cast& e);

}  // namespace dvm::compiler
