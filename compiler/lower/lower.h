#pragma once
// Checked clauses to DIF.
//
// Every value that an action needs (a predicate, a record, a key) becomes a DIFO of its own:
//
//   Expr ── Emitter ── passes (optimize.h) ── registers and tables ──> Difo          code.h draws it
//
// A register holds a value as 64 bits, and arithmetic computes with all of them, whatever the types of its operands, so a result
// may exceed its type. Casts, assignments, keys and arguments cut the value to their type (shifts, or a
// mask); stores and records take the bytes of their type, aggregating functions and conditions the whole value.
// By-reference values (strings, structures) are addresses.
//
// The tuple stack is empty between expressions. If a key or argument needs the stack itself, all of them are evaluated before the
// first one is pushed. A flushts follows associative loads and stores; a call empties the stack by itself.

#include "compiler/sema/session.h"

namespace dvm::compiler {

// The use of the value: it is dropped, recorded in as many bytes as its type has, tested for zero, or used as a
// number of 64 bits.
enum class Use : uint8_t { effect, record, test, number };

// Diagnoses D_NOREG and objects that are too large.
dif::Difo lower_expr(const Expr& expr, Use use, Session& session);

dif::EcbDesc lower_clause(const CheckedClause& clause, Session& session);

}  // namespace dvm::compiler
