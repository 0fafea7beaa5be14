#pragma once
// Reports operands that an operator does not accept.

#include "compiler/sema/expr_context.h"

namespace dvm::compiler {

// Unless the condition holds, reports the message, with the operator in place of {}. Returns the condition.
bool require(ExprContext& c, bool condition, Expr& e, Tag tag, const char* format, std::string_view op);
void incompatible(ExprContext& c, Expr& e, const Expr& left, std::string_view op, const Expr& right);
// Reports an operand that is an aggregation. True after a diagnostic.
bool is_dynamic(ExprContext& c, Expr& e, const Expr& first, const Expr& second, std::string_view op);

}  // namespace dvm::compiler
