#pragma once
// Names and memory of the traced program.

#include "compiler/sema/expr_context.h"

namespace dvm::compiler {

ExprPtr check(ExprContext& c, External& e);
// A constant of the program by the name of its enumerator; null when there is none.
ExprPtr target_constant(ExprContext& c, Location where, const std::string& module, const std::string& name);
// False after a diagnostic: a variable of the program whose type is not known. Only its address can be used.
bool check_typed(ExprContext& c, const Expr& e);
bool is_of_target(const Expr& e);
// False after a diagnostic: an assignment would write memory of the traced process.
bool check_own_memory(ExprContext& c, const Expr& target, Expr& operation, std::string_view op);

}  // namespace dvm::compiler
