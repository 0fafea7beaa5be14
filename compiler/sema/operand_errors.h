#pragma once
// Diagnostics about operands that an operator does not take.

#include "compiler/sema/expr_context.h"

namespace dvm::compiler {

// Fails the operation with the message, whose {} is the operator, unless the condition holds.
bool require(ExprContext& c, bool condition, Expr& e, Tag tag, const char* format, std::string_view op);
void incompatible(ExprContext& c, Expr& e, const Expr& left, std::string_view op, const Expr& right);
// True after a diagnostic: an operand is an aggregation.
bool is_dynamic(ExprContext& c, Expr& e, const Expr& first, const Expr& second, std::string_view op);

}  // namespace dvm::compiler
