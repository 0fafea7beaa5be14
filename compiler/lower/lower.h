#pragma once
// Checked clauses to DIF.
//
// Every value that an action needs (a predicate, a record, a key) becomes a DIFO of its own:
//
//   Expr ── Emitter ── passes (optimize.h) ── registers and tables ──> Difo          code.h draws it
//
// A register holds a value as 64 bits. The value of a narrower type is *canonical* when these are its sign- or zero-extension;
// loads, constants, comparisons and conversions make such values, while + - * << ~ may leave the narrow range. It is brought
// back (shifts, or a mask) before anything that looks at the upper bits: /, %, >>, comparisons, conversions and keys. Stores and
// records take the bytes of their type.
// By-reference values (strings, structures) are addresses.
//
// The tuple stack is empty between expressions: keys and arguments are all evaluated before the first of them is pushed if any of
// them needs the tuple stack itself, and associative loads and stores are followed by flushts (a call empties it by itself).

#include "compiler/sema/session.h"

namespace dvm::compiler {

// What becomes of the value: it is dropped, recorded in as many bytes as its type has, or tested for zero.
enum class Use : uint8_t { effect, record, test };

// Diagnoses D_NOREG and objects that are too large.
dif::Difo lower_expr(const Expr& expr, Use use, Session& session);

dif::EcbDesc lower_clause(const CheckedClause& clause, Session& session);

}  // namespace dvm::compiler
