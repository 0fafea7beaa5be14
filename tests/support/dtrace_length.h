#pragma once
// How many instructions dtrace emits for an expression: its code generator walks the tree once, gives every node a register and
// never looks back, so that each node's share can be counted from the node alone (docs/code-generation.md has the rules).

#include <cstddef>

#include "compiler/ast/ast.h"

namespace dvm::compiler {

// The object of a checked expression, with its `ret`. Where dtrace could not evaluate what dvm does (a string of the traced
// process that is not copied in) it is counted as the script that dtrace would take.
size_t dtrace_length(const Expr& expr);

}  // namespace dvm::compiler
