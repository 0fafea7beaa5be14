#pragma once
// Which pointers lead to scratch memory, as far as the source shows it.

#include "compiler/ast/ast.h"

namespace dvm::compiler {

enum class Origin : uint8_t { unknown, scratch, elsewhere };

// Tells where a pointer leads. A variable that some statement has given scratch counts as scratch.
Origin origin_of(const Expr& e);
// Its variable, or the array of its element; null: it has none.
Symbol* variable_of(const Expr& e);
// Keeps the origin of an assigned pointer. False: one branch of its ?: is scratch, and the other leads elsewhere.
bool note_origin(const Assign& e);

}  // namespace dvm::compiler
