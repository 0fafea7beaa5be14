#pragma once
// Operators without a side effect. check_assign.h has the others.

#include "compiler/sema/expr_context.h"

namespace dvm::compiler {

ExprPtr check(ExprContext& c, Aggregation& e);
ExprPtr check(ExprContext& c, Unary& e);
ExprPtr check(ExprContext& c, Binary& e);
ExprPtr check(ExprContext& c, Conditional& e);
ExprPtr check(ExprContext& c, Comma& e);

// The branch of a ?: that a constant condition chooses. It replaces the whole expression. Null if the condition is not constant.
ExprPtr chosen_branch(ExprContext& c, Conditional& e);

}  // namespace dvm::compiler
