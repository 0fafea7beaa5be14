#pragma once
// Counts the instructions that dtrace emits for an expression. Its code generator walks the tree once and gives every node a
// register, so the share of each node follows from the node alone (docs/code-generation.md has the rules).

#include <cstddef>

#include "compiler/ast/ast.h"

namespace dvm::compiler {

// The object of a checked expression, with its `ret`. Where dtrace could not evaluate what dvm does (a string of the traced
// process that is not copied in) it is counted as the script that dtrace would take.
size_t dtrace_length(const Expr& expr);

}  // namespace dvm::compiler
