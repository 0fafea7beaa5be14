#pragma once
// args[N] of a probe in the traced program, by the types in its debug information.

#include "compiler/sema/expr_context.h"

namespace dvm::compiler {

ExprPtr typed_argument(ExprContext& c, Index& e);
// A member of an argument that lies in several words.
ExprPtr assembled_member(ExprContext& c, Member& e, Translate& from);

}  // namespace dvm::compiler
