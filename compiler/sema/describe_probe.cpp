// The types and the stability of one probe. Tests: tests/unit/compiler/compile_test.cpp, tests/runtime/scenarios/test_list.py.
#include "compiler/sema/describe_probe.h"

#include "compiler/sema/declared_probes.h"

namespace dvm::compiler {

namespace {

std::string type_name(const dif::ArgumentDesc& argument, Session& s) {
  if (!argument.spelling.empty()) return argument.spelling;
  if (argument.is_word) return "uint64_t";
  return argument.problem.empty() ? s.target.import(argument.type)->name : "(unknown)";
}

std::vector<std::string> argument_types(const dif::ProbeDesc& probe, Session& s) {
  std::vector<std::string> types;
  if (const auto declared = declared_probes(probe, s); !declared.empty()) {
    for (const ProbeArgument& argument : declared.front()->translated) types.push_back(argument.type->name);
    return types;
  }
  if (s.options.types == nullptr) return types;
  const ProbeArguments found = s.options.types->arguments(probe);
  if (found.signatures.empty()) return types;
  for (const dif::ArgumentDesc& argument : found.signatures.front()) types.push_back(type_name(argument, s));
  return types;
}

}  // namespace

ProbeDescription describe_probe(const dif::ProbeDesc& probe, Session& s) {
  return {s.providers.attributes(probe), s.providers.argument_attributes(probe), argument_types(probe, s)};
}

}  // namespace dvm::compiler
