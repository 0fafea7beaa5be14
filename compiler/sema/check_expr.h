#pragma once
// The check of an expression: names, types, and the variables that an assignment declares. dispatch_expr.cpp defines it; the
// files of the subjects call it for the operands.

#include "compiler/sema/expr_context.h"

namespace dvm::compiler {

// Checks the tree below `e` and gives it its type. May replace the node, by a constant or by the body of an inline. An error is
// reported once: a node with the error type silences those above it.
void check(ExprContext& c, ExprPtr& e);
// The same, for an operand that is not necessarily read, such as that of &.
void check_place(ExprContext& c, ExprPtr& e);
// The same, for an operand that must not have the error type. False after a diagnostic.
bool check_value(ExprContext& c, ExprPtr& e);

}  // namespace dvm::compiler
