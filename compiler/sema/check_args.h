#pragma once
// args[N]: the typed arguments of a probe. The types come from the declaration of its provider or from the traced program.

#include "compiler/sema/expr_context.h"

namespace dvm::compiler {

ExprPtr index_args(ExprContext& c, Index& e);

}  // namespace dvm::compiler
