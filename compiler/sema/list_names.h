#pragma once
// The names that a script may use, with their declarations: what an editor offers and explains.

#include <vector>

#include "compiler/sema/session.h"

namespace dvm::compiler {

// Without those that only dvm's libraries use (dvm_*), and built-in variables.
std::vector<NameDesc> list_names(Session& s);

}  // namespace dvm::compiler
