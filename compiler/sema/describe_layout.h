#pragma once
// Describes the layout of types, for print().

#include "compiler/sema/session.h"

namespace dvm::compiler {

// If the type is too large, members at the end are left out, and print() does not show them.
dif::ValueLayout describe_layout(const Type* type, Session& session);

}  // namespace dvm::compiler
