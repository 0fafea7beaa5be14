#pragma once
// __attribute__ as a token: one that a layout depends on, or one to be dropped.

#include <string_view>

#include "compiler/ast/ast.h"

namespace dvm::compiler {

// True if the token says how something is laid out.
bool changes_layout(std::string_view attribute);
// Adds what a token says.
void add_attributes(std::string_view attribute, Location where, LayoutAttributes& to);

}  // namespace dvm::compiler
