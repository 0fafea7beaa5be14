#pragma once
// base.member and base->member.

#include "compiler/sema/expr_context.h"

namespace dvm::compiler {

ExprPtr check(ExprContext& c, Member& e);

}  // namespace dvm::compiler
