#pragma once
// Splits clauses that read args[]. As in DTrace, such a clause is checked for each of its probe descriptions separately, because
// the types of the arguments depend on the probes that the description matches.
//
//   f:entry, g:entry { trace(args[0]->name); }    f:entry { trace(args[0]->name); }  g:entry { trace(args[0]->name); }

#include <vector>

#include "compiler/ast/ast.h"

namespace dvm::compiler {

// Takes the clause. A clause that does not name args, or has one description, does not change. Inlines and translators cannot
// name args, because they lie outside of clauses.
std::vector<Clause> split_descriptions(Clause&& clause);

}  // namespace dvm::compiler
