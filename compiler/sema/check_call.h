#pragma once
// Calls: subroutines by the rows of subroutines.def. Actions and aggregating functions have no value and belong elsewhere.

#include "compiler/sema/expr_context.h"
#include "dvm/dif/arguments.h"

namespace dvm::compiler {

ExprPtr check(ExprContext& c, Call& e);
// ustack(n) as a value that a variable can keep (check_stack.cpp).
ExprPtr check_kept_stack(ExprContext& c, Call& e);
// Arguments against a prototype of the tables ("string int int?"), converted to it. `what` is "strlen( )".
bool check_prototype(ExprContext& c, const std::string& what, const dif::ArgumentList& prototype, std::vector<ExprPtr>& arguments,
                     Location where);

}  // namespace dvm::compiler
