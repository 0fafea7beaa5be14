#pragma once
// xlate: the use of translators in expressions.

#include "compiler/sema/expr_context.h"

namespace dvm::compiler {

ExprPtr check(ExprContext& c, Translate& e);
// True if a translator makes a structure, or a pointer to one, from a value.
bool can_translate(ExprContext& c, const Type* to, const Expr& from);
// A member of a translated structure. Only the definition of this member is evaluated.
ExprPtr translated_member(ExprContext& c, Member& e, Translate& from);
// Fills in the members of the structures that an expression translates as a whole. Takes checked expressions, before lowering.
void expand_translations(ExprPtr& e, Session& session);

}  // namespace dvm::compiler
