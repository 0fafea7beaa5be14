#pragma once
// Calls of subroutines. Actions and aggregating functions, which have no value, are in check_action.h.

#include "compiler/sema/expr_context.h"
#include "dvm/dif/arguments.h"

namespace dvm::compiler {

ExprPtr check(ExprContext& c, Call& e);
// ustack(n) as a value that a variable can keep (check_stack.cpp).
ExprPtr check_kept_stack(ExprContext& c, Call& e);
// Checks arguments against a prototype of the tables ("string int int?") and converts them. `what` is "strlen( )".
bool check_prototype(ExprContext& c, const std::string& what, const dif::ArgumentList& prototype, std::vector<ExprPtr>& arguments,
                     Location where);

}  // namespace dvm::compiler
