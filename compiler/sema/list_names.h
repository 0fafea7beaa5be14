#pragma once
// The names that a script may use, with their declarations, for completion and hovers in editors.

#include <vector>

#include "compiler/sema/session.h"

namespace dvm::compiler {

// Built-in variables and the internal names of dvm's libraries (dvm_*) are left out.
std::vector<NameDesc> list_names(Session& s);

}  // namespace dvm::compiler
