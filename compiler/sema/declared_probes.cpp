// Tests: tests/golden/sema (tst.program_provider.d), tests/runtime/scenarios/test_header.py.
#include "compiler/sema/declared_probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "compiler/sema/declare.h"

namespace dvm::compiler {

namespace {

// `name is a typedef of a structure without a tag. Where the debug information lacks it, the script's is taken, and
// a pointer to it leads to void.
std::string with_known_types(const std::string& text, Session& s) {
  constexpr std::string_view kWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
  std::string known;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find_first_not_of(kWord, at + 1), text.size());
    const std::string name = text.substr(at + 1, end - at - 1);
    const bool is_missing = text[at] == '`' && !s.target.find("", "", name);
    if (is_missing && s.types.find(name))
      known += "D`" + name;
    else if (is_missing && text.substr(end).starts_with(" *"))
      known += "void";
    else
      known += text.substr(at, end - at);
    at = end;
  }
  return known;
}

// Returns what is wrong. Only declarations of providers count: the text is the program's, and the program may be hostile.
std::string declare_from(const std::string& text, Session& s) {
  ProgramProviders& of_program = s.program_providers;
  const Source source{"the program", with_known_types(text, s)};
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
