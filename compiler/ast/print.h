#pragma once
// Prints an AST for golden tests: one node a line, children indented, expressions as S-expressions.

#include <string>

#include "compiler/ast/ast.h"

namespace dvm::compiler {

std::string print(const TranslationUnit& unit);
std::string print(const Expr& expr);

}  // namespace dvm::compiler
