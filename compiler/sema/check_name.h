#pragma once
// Names: variables, inlines and macro variables, and what inlines and translators put in the place of a name.

#include <span>

#include "compiler/sema/expr_context.h"

namespace dvm::compiler {

ExprPtr check(ExprContext& c, Macro& e);
ExprPtr check(ExprContext& c, Identifier& e);
ExprPtr check(ExprContext& c, Scoped& e);

// A parameter of an inline or translator, and its argument.
struct Substitution {
  std::string_view name;
  const Expr* value = nullptr;
  const Type* type = nullptr;
};
// Replaces names of parameters by copies of the arguments; scalars are cast to the parameter's type.
void substitute(ExprPtr& e, std::span<const Substitution> list);
// Checks the body of an inline or translator that replaces a name.
void check_expanded(ExprContext& c, ExprPtr& body, Location where);
ExprPtr expand_inline(ExprContext& c, Location where, Symbol& symbol, std::vector<ExprPtr>* arguments);

// Reports a variable that is read before any assignment, and is not a plain global.
void unassigned(ExprContext& c, Expr& e, dif::Scope scope, const std::string& name);
// A subroutine, action or aggregating function.
bool is_function(std::string_view name, const Session& session);
// The scope and name of a variable that is named without more; false for other expressions.
bool names_variable(const Expr& base, const Session& session, dif::Scope& scope, std::string& name);

}  // namespace dvm::compiler
