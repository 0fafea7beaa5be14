#pragma once
// Names and memory of the traced program.

#include "compiler/sema/expr_context.h"

namespace dvm::compiler {

ExprPtr check(ExprContext& c, External& e);
// The inline dvm_kernel_NAME by which a library defines the variable NAME of the kernel, not yet checked. Null: there is none, or
// the program has a variable of this name.
ExprPtr kernel_variable(ExprContext& c, const External& e);
// The value of an enumerator of the program, as a constant. Null: there is no such enumerator.
ExprPtr target_constant(ExprContext& c, Location where, const std::string& module, const std::string& name);
// Checks that the type of a variable of the program is known; otherwise only its address can be used. False after a diagnostic.
bool check_typed(ExprContext& c, const Expr& e);
bool is_of_target(const Expr& e);
// Checks that an assignment does not write memory of the traced process. False after a diagnostic.
bool check_own_memory(ExprContext& c, const Expr& target, Expr& operation, std::string_view op);

}  // namespace dvm::compiler
