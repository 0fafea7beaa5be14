#pragma once
// Assignments, ++ and --. The first assignment to a variable declares it.

#include "compiler/sema/expr_context.h"

namespace dvm::compiler {

ExprPtr check(ExprContext& c, Assign& e);
ExprPtr check(ExprContext& c, Postfix& e);
// Declares an unknown operand of a unary operator as an int64_t variable: x++, !self->x, -a[keys].
void declare_operand(ExprContext& c, Expr& operand);
// ++ and --, prefix and postfix.
void check_counted(ExprContext& c, Expr& e, ExprPtr& operand, Op op);

}  // namespace dvm::compiler
