#pragma once
// Providers that the traced program declares: `dvm header` and dtrace -G leave their declarations in it, beside its markers.

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
  std::map<std::string, std::string> read;  // by text: what is wrong with it
  std::string problem;                      // with a text of the last description
};

}  // namespace dvm::compiler
