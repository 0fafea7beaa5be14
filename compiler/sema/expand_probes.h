#pragma once
// Probe descriptions: macros, fields counted from the right, and whether any probe matches.

#include "compiler/sema/session.h"

namespace dvm::compiler {

// Fills probes and matched. False after a diagnostic.
bool expand_probes(const Clause& clause, CheckedClause& checked, Session& session);

}  // namespace dvm::compiler
