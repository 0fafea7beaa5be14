#pragma once
// Constant expressions. A folded node is an Integer with the 64 bits that arithmetic makes; a cast cuts them to its type.

#include "compiler/sema/session.h"

namespace dvm::compiler {

// The value as a type of that size and signedness holds it.
uint64_t wrap(uint64_t value, const Type* type);

// What an operator makes of 64 bits, with or without a sign; a divisor must not be 0.
uint64_t evaluate(Op op, uint64_t left, uint64_t right, bool is_signed);

ExprPtr make_integer(Location where, uint64_t value, const Type* type);

// The constant that a checked node amounts to, or null.
ExprPtr fold(const Unary& e);
ExprPtr fold(const Binary& e, Session& session);
ExprPtr fold(const Cast& e);

}  // namespace dvm::compiler
