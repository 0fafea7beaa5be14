#pragma once
// The declaration of a provider as programs carry it, without the names of types that only the script knows.

#include <string>

#include "compiler/parse/type_names.h"
#include "compiler/sema/providers.h"

namespace dvm::compiler {

std::string portable_declaration(const DeclaredProvider& provider, const TypeNames& standard);

}  // namespace dvm::compiler
