#pragma once
// Providers that the traced program declares. `dvm header` and dtrace -G put their declarations into it, beside its markers.

#include <functional>
#include <map>
#include <string>

#include "compiler/ast/ast.h"
#include "compiler/diagnostic/diagnostics.h"
#include "compiler/sema/providers.h"

namespace dvm::compiler {

struct ProgramProviders {
  std::function<TranslationUnit(const SourceFile&, Diagnostics&)> parse;  // sema does not parse; null: none are read

  Providers providers;
  std::map<std::string, std::string> read;  // declarations that were read, with their errors (empty: none)
  std::string problem;                      // an error in a declaration for the last description
};

}  // namespace dvm::compiler
