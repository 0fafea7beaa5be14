#pragma once
// Finds the pointers that lead to scratch memory, as far as the source shows it.

#include "compiler/ast/ast.h"

namespace dvm::compiler {

enum class Origin : uint8_t { unknown, scratch, elsewhere };

// Returns where a pointer leads. A variable counts as scratch if some statement has made it point there.
Origin origin_of(const Expr& e);
// The variable that an expression names, or the array of an element. Null: there is none.
Symbol* variable_of(const Expr& e);
// Records the origin of an assigned pointer. False: one branch of its ?: is scratch, and the other leads elsewhere.
bool note_origin(const Assign& e);

}  // namespace dvm::compiler
