#pragma once
// C's declarations: specifiers to a base type, declarators to a type derived from it, and the layout of structures.

#include "compiler/sema/session.h"

namespace dvm::compiler {

inline constexpr uint64_t kMaxObject = 1 << 20;  // bytes of one object

const Type* base_type(Specifiers& specifiers, Session& session);
// Skips the first `skip` derivations, which were for the caller.
const Type* derive_type(const Type* base, Declarator& declarator, size_t skip, Session& session);

}  // namespace dvm::compiler
