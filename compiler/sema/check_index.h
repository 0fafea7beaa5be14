#pragma once
// base[...]: elements of associative arrays, pointers, arrays and built-in arrays.

#include "compiler/sema/expr_context.h"

namespace dvm::compiler {

ExprPtr check(ExprContext& c, Index& e);

}  // namespace dvm::compiler
