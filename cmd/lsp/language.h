#pragma once
// Answers an editor's questions about a script from the compiler and the cost model. It traces nothing, and starts no process but
// the preprocessor of scripts that want it.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cmd/lsp/document.h"
#include "cmd/script.h"
#include "cmd/target_catalog.h"
#include "dvm/vm/profile.h"

namespace dvm::cmd::lsp {

struct ClauseCost {
  unsigned line = 0;  // where the clause begins, from 1
  std::string text;
};

struct Checked {
  std::vector<compiler::Diagnostic> diagnostics;  // of the script itself
  std::vector<compiler::NameDesc> names;          // of the script and the libraries, as far as they were understood
  std::vector<ClauseCost> costs;
};

class KnownProbes;

class Language {
 public:
  // An error: an option that the command line gives is wrong, or its process has ended.
  static Result<std::unique_ptr<Language>> open(const ScriptOptions& given);
  ~Language();

  Checked check(const std::string& name, const std::string& text) const;
  std::vector<compiler::MemberOfType> members(const std::string& name, std::string_view text, const Cursor& cursor) const;
  std::vector<std::string> descriptions(const std::string& typed) const;
  // What the probes of a description are, and their arguments; empty: nothing is known.
  std::string about_probes(const std::string& description) const;
  // Why no costs are known; empty: they are known.
  const std::string& no_costs() const { return no_costs_; }

 private:
  Language(const ScriptOptions& given);
  // The declarations of all libraries, also of those that are read only if a script names something of theirs.
  compiler::CompileResult ask_libraries(std::vector<dif::ProbeDesc> described) const;
  // The script as the compiler reads it: through the preprocessor with -C, or if its first line asks for that. An error is among
  // the problems, as are warnings.
  Result<compiler::Source> read(const std::string& name, const std::string& text,
                                std::vector<compiler::Diagnostic>& problems) const;
  std::vector<ClauseCost> costs(const std::string& name, const std::vector<compiler::CompiledSource>& programs) const;

  ScriptOptions given_;
  // Finds probes. Those of the process have arguments that `types_` is asked for.
  std::unique_ptr<runtime::Handle> handle_;
  std::unique_ptr<KnownProbes> probes_;
  std::optional<TargetCatalog> types_;  // of the process, if there is one, and of the kernel
  compiler::CompileOptions how_;
  dif::Options options_;
  std::vector<compiler::NameDesc> library_names_;
  std::optional<vm::Profile> profile_;
  std::string no_costs_;
};

}  // namespace dvm::cmd::lsp
