#pragma once
// Assignments, ++ and --: what they may change, and the variables that they declare by being the first.

#include "compiler/sema/expr_context.h"

namespace dvm::compiler {

ExprPtr check(ExprContext& c, Assign& e);
ExprPtr check(ExprContext& c, Postfix& e);
// What is not known yet becomes an int64_t where it is the operand of a unary operator: x++, !self->x, -a[keys].
void declare_operand(ExprContext& c, Expr& operand);
// ++ and --, before or behind their operand.
void check_counted(ExprContext& c, Expr& e, ExprPtr& operand, Op op);

}  // namespace dvm::compiler
