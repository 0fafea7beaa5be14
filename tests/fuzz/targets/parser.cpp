// Any bytes as a script, to its AST: the lexer and the parser alone.

#include "tests/fuzz/diagnostics.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const dvm::compiler::Source source{"fuzz.d", std::string(reinterpret_cast<const char*>(data), size), false};
  std::vector<dvm::compiler::Diagnostic> diagnostics;
  dvm::compiler::print_ast(source, diagnostics);
  dvm::fuzz::check(diagnostics, source);
  return 0;
}
