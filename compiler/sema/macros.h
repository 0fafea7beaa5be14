#pragma once
// Macro variables and arguments: $pid, $target, $1, $$1.

#include <optional>

#include "compiler/sema/session.h"

namespace dvm::compiler {

// The value of $name; none after a diagnostic, which spells it with `sign`.
std::optional<std::string> macro_text(std::string_view name, Location where, Session& session, std::string_view sign = "$");

// The unchecked node in the place of a macro: an integer, a name, or with $$ a string; null after a diagnostic.
ExprPtr expand_macro(const Macro& macro, Session& session);
// Puts names in the place of $1 and the like that stand for one: they may be assigned as any variable.
void name_macros(Clause& clause, Session& session);
// Marks the macro variables of an expression that is left out as used.
void use_macros(Expr& e, Session& session);

}  // namespace dvm::compiler
