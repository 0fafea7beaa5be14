#pragma once
// The declaration of a provider, for embedding in a program. It names no types that only the script defines.

#include <string>

#include "compiler/parse/type_names.h"
#include "compiler/sema/providers.h"

namespace dvm::compiler {

std::string portable_declaration(const DeclaredProvider& provider, const TypeNames& standard);

}  // namespace dvm::compiler
