#pragma once
// Compatibility of types: of operands, of arguments, and of the two sides of an assignment.

#include "compiler/sema/expr_context.h"

namespace dvm::compiler {

bool is_void_or_function_pointer(const Type* t);
bool is_address(const Type* t);
bool same_targets(const Type* l, const Type* r);
bool pointers_match(const Expr& left, const Expr& right);
// Rules for an argument or key of the given type.
bool is_compatible(const Type* formal, const Expr& actual);
bool is_assignable(const Type* to, const Expr& value);
// The type of `condition ? a : b`. Null: the two have no common type.
const Type* common_type(ExprContext& c, const Expr& a, const Expr& b);

}  // namespace dvm::compiler
