#pragma once
// Lines that begin with #: pragmas, and the line markers of a preprocessor.

#include "compiler/sema/session.h"

namespace dvm::compiler {

// Options go to `options`, in order.
void apply(const Pragma& pragma, Session& session, std::vector<std::pair<std::string, std::string>>& options);

}  // namespace dvm::compiler
