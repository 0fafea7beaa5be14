#pragma once
// Types to the layouts that print() shows.

#include "compiler/sema/session.h"

namespace dvm::compiler {

// A type that is too large to describe whole is cut short: what is left out is not shown.
dif::ValueLayout describe_layout(const Type* type, Session& session);

}  // namespace dvm::compiler
