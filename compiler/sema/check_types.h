#pragma once
// Constants, casts, sizeof, offsetof and stringof.

#include "compiler/sema/expr_context.h"

namespace dvm::compiler {

ExprPtr check(ExprContext& c, Integer& e);
ExprPtr check(ExprContext& c, String& e);
ExprPtr check(ExprContext& c, Cast& e);
ExprPtr check(ExprContext& c, SizeofType& e);
ExprPtr check(ExprContext& c, SizeofValue& e);
ExprPtr check(ExprContext& c, OffsetOf& e);
ExprPtr check(ExprContext& c, StringOf& e);

// Checks the type that a cast or xlate names (none if sema inserted the node) and the operand. False after a diagnostic.
bool check_conversion(ExprContext& c, Expr& e, TypeName* to, ExprPtr& operand);

}  // namespace dvm::compiler
