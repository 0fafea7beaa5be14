#pragma once
// Macro variables and arguments: $pid, $target, $1, $$1.

#include <optional>

#include "compiler/sema/session.h"

namespace dvm::compiler {

// The value of $name. Nothing after a diagnostic, which spells the name with `sign`.
std::optional<std::string> macro_text(std::string_view name, Location where, Session& session, std::string_view sign = "$",
                                      std::vector<std::string> otherwise = {});

// The unchecked node that replaces a macro: an integer or a string. Null after a diagnostic. Of an argument that is a name, the
// lexer has made that name.
ExprPtr expand_macro(const Macro& macro, Session& session);
// Marks the macro variables of a dropped expression as used.
void use_macros(Expr& e, Session& session);

}  // namespace dvm::compiler
