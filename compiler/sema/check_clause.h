#pragma once
// A clause: its probes, predicate and statements.

#include "compiler/sema/session.h"

namespace dvm::compiler {

// Takes the clause and appends what it becomes: one CheckedClause, or several where it has if statements (split_conditions.h) or
// reads args[] of several descriptions (split_descriptions.h). What cannot be checked is diagnosed and left out.
void check_clause(Clause& clause, Session& session, std::vector<CheckedClause>& to);

}  // namespace dvm::compiler
