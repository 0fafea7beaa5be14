#pragma once
// Checks a clause: its probes, predicate and statements.

#include "compiler/sema/session.h"

namespace dvm::compiler {

// Appends one CheckedClause, or several if the clause has if statements (split_conditions.h) or reads args[] of several
// descriptions (split_descriptions.h). Parts with errors are left out.
void check_clause(Clause& clause, Session& session, std::vector<CheckedClause>& to);

}  // namespace dvm::compiler
