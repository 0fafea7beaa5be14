#pragma once
// Checked clauses to DIF.
//
// Every value that an action needs (a predicate, a record, a key) becomes a DIFO of its own:
//
//   Expr ── Emitter ── passes (optimize.h) ── registers and tables ──> Difo          code.h draws it
//
// A register holds a value as 64 bits. Arithmetic uses all of them, whatever the types of its operands, so a result may exceed
// its type. Casts, assignments, keys and arguments cut the value to their type, by shifts or a mask. Stores and records take the
// bytes of their type. Aggregating functions and conditions take the whole value. Strings and structures are represented by
// addresses.
//
// The tuple stack is empty between expressions. If a key or argument itself uses the stack, all of them are evaluated before the
// first one is pushed. A flushts follows associative loads and stores; a call empties the stack.

#include "compiler/sema/session.h"

namespace dvm::compiler {

// How the value is used: dropped, recorded in the bytes of its type, tested for zero, or used as a 64-bit number.
enum class Use : uint8_t { effect, record, test, number };

// Reports D_NOREG (too few registers) and objects that are too large.
dif::Difo lower_expr(const Expr& expr, Use use, Session& session);

dif::EcbDesc lower_clause(const CheckedClause& clause, Session& session);

}  // namespace dvm::compiler
