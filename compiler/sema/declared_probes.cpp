// Tests: tests/golden/sema (tst.program_provider.d), tests/runtime/scenarios/test_header.py.
#include "compiler/sema/declared_probes.h"

#include <fmt/format.h>

#include <utility>

#include "compiler/sema/declare.h"

namespace dvm::compiler {

namespace {

// Returns what is wrong. Only declarations of providers count: the text is the program's, and the program may be hostile.
std::string declare_from(const std::string& text, Session& s) {
  ProgramProviders& of_program = s.program_providers;
  const Source source{"the program", text};
  const SourceFile file(source);
  std::swap(s.providers, of_program.providers);
  std::string problem = s.diagnostics.attempt(file, [&] {
    TranslationUnit unit = of_program.parse(file, s.diagnostics);
    for (Item& item : unit.items)
      if (auto* provider = std::get_if<ProviderDecl>(&item)) declare(*provider, s);
  });
  std::swap(s.providers, of_program.providers);
  return problem.empty() ? problem : fmt::format("{} ({})", problem, text);
}

}  // namespace

std::vector<const DeclaredProbe*> declared_probes(const dif::ProbeDesc& description, Session& s) {
  std::vector<const DeclaredProbe*> found = s.providers.match(description);
  if (!found.empty() || s.options.types == nullptr || !s.program_providers.parse) return found;
  const std::vector<std::string> texts = s.options.types->declarations(description);
  for (const std::string& text : texts) {
    const auto [known, is_new] = s.program_providers.read.try_emplace(text);
    if (is_new) known->second = declare_from(text, s);
    if (!known->second.empty()) s.program_providers.problem = known->second;
  }
  return texts.empty() ? found : s.program_providers.providers.match(description);
}

}  // namespace dvm::compiler
