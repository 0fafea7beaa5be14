#pragma once
// Inserts conversions.

#include "compiler/ast/ast.h"

namespace dvm::compiler {

// A constant operand is folded at once.
ExprPtr convert(ExprPtr e, const Type* type);

}  // namespace dvm::compiler
