// Any bytes as a script, through the whole compiler: a diagnostic, or DIF that the verifier admits and that runs. The options
// follow from the length of the input, so that inputs stay plain scripts.

#include <algorithm>

#include "tests/fuzz/diagnostics.h"
#include "tests/fuzz/machine.h"

namespace dvm::fuzz {
namespace {

// Knows every probe but those of function "none".
class AnyProbe final : public compiler::ProbeCatalog {
 public:
  compiler::ProbeMatches match(const dif::ProbeDesc& description) override {
    if (description.function == "none") return {0, "failed to lookup 'none'", "D_PROC_FUNC", {"did you mean 'some'?"}};
    return {description.name == "BEGIN" ? size_t{1} : size_t{2}, {}, {}, {}};
  }
};

compiler::CompileOptions options(size_t length, AnyProbe& catalog) {
  compiler::CompileOptions options;
  options.arguments = {"fuzz.d", "1", "name"};
  options.macros = {{"target", "1"}, {"pid", "2"}};
  options.default_arguments = (length & 1) != 0;
  options.allow_zero_matches = (length & 2) != 0;
  options.refuse_unused_arguments = (length & 4) != 0;
  options.catalog = (length & 8) != 0 ? nullptr : &catalog;
  return options;
}

void run(const dif::Program& program) {
  Machine machine(program.variables);
  for (const dif::EcbDesc& clause : program.clauses) {
    if (clause.predicate) require(machine.try_run(clause.predicate->difo), "the verifier admits what the compiler makes");
    for (const dif::ActDesc& action : clause.actions)
      for (const dif::RecDesc& arg : action.args)
        require(dif::is_own_stack(arg) || machine.try_run(arg.difo), "the verifier admits what the compiler makes");
  }
}

}  // namespace
}  // namespace dvm::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace dvm;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const bool is_description = (size & 16) != 0;
  const compiler::Source source{is_description ? text : "fuzz.d", text, is_description};
  fuzz::AnyProbe catalog;
  const compiler::CompileResult result = compiler::compile({&source, 1}, fuzz::options(size, catalog));
  fuzz::check(result.diagnostics, source);
  const bool failed = std::any_of(result.diagnostics.begin(), result.diagnostics.end(),
                                  [](const compiler::Diagnostic& d) { return d.severity == compiler::Severity::error; });
  fuzz::require(failed == result.programs.empty(), "there is a program or an error");
  for (const compiler::CompiledSource& compiled : result.programs) {
    fuzz::run(compiled.program);
    fuzz::require(compiler::print_dif(compiled.program).size() + 1 > 0, "a program can be listed");
  }
  return 0;
}
