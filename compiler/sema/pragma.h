#pragma once
// Lines that begin with #: pragmas, and the line markers of a preprocessor.

#include "compiler/sema/session.h"

namespace dvm::compiler {

// Options go to `options`, in order.
void apply(const Pragma& pragma, Session& session, std::vector<std::pair<std::string, std::string>>& options);

// After each item: pragmas about what it has declared.
void apply_pending(Session& session);
// At the end of a file: pragmas about names that it did not declare are diagnosed.
void finish_pragmas(Session& session);

}  // namespace dvm::compiler
