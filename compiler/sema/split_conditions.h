#pragma once
// Splits clauses with if and else. An ECB runs its actions one after another, without branches. So, as in DTrace, a clause with
// conditions becomes several clauses of the same probes. A clause-local variable holds the condition and is the predicate of the
// parts.
//
//   P /p/ { a; if (c) { b; } d; }    P /p/ { this-> condition = 1; }   and so on, each part under the conditions around it:
//
//   P /p/ { a; this->%1 = !!(c); }   P /this->%1/ { b; }   P /p's value/ { d; }
//
// The predicate itself is evaluated once, into this->%0. A clause without conditions does not change.

#include <vector>

#include "compiler/ast/ast.h"

namespace dvm::compiler {

struct PlainClause {
  ExprPtr predicate;
  bool is_own_predicate = false;  // the clause's own; else a variable that an earlier part has set
  std::vector<Statement> statements;
};

// Takes the clause's predicate and statements.
std::vector<PlainClause> split_conditions(Clause& clause);

}  // namespace dvm::compiler
