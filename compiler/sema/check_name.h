#pragma once
// Names: variables, inlines and macro variables. Also the expansion of inlines and translators.

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

// Reports that a variable, which is not a plain global, is read before any assignment.
void unassigned(ExprContext& c, Expr& e, dif::Scope scope, const std::string& name);
// True for the names of subroutines, actions and aggregating functions.
bool is_function(std::string_view name, const Session& session);
// The scope and name of an expression that is just the name of a variable. False for other expressions.
bool names_variable(const Expr& base, const Session& session, dif::Scope& scope, std::string& name);

}  // namespace dvm::compiler
