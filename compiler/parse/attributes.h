#pragma once
// Reads __attribute__, which the lexer delivers as one token. Attributes that do not change the layout are dropped.

#include <string_view>

#include "compiler/ast/ast.h"

namespace dvm::compiler {

// True if the attribute changes the layout.
bool changes_layout(std::string_view attribute);
// Adds the attributes of a token.
void add_attributes(std::string_view attribute, Location where, LayoutAttributes& to);

}  // namespace dvm::compiler
