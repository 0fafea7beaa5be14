#pragma once
// Decides whether the predicate or the actions of a clause are checked first. The first part may declare variables that the other
// one reads.

#include "compiler/ast/ast.h"
#include "compiler/sema/session.h"

namespace dvm::compiler {

// Actions come first, as they do in DTrace: /n < 5/ { n++; }. False if they read a variable that only the predicate declares:
// /x++ < 5/ { trace(x); }.
bool has_actions_first(const Clause& clause, Session& session);

}  // namespace dvm::compiler
