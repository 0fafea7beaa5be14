#pragma once
// Decides if the predicate or the actions of a clause are checked first, and so declare the variables that the others read.

#include "compiler/ast/ast.h"
#include "compiler/sema/session.h"

namespace dvm::compiler {

// Actions come first, as in DTrace: /n < 5/ { n++; }. False where they read a variable that only the predicate declares:
// /x++ < 5/ { trace(x); }.
bool has_actions_first(const Clause& clause, Session& session);

}  // namespace dvm::compiler
