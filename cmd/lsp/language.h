#pragma once
// Answers an editor's questions about a script from the compiler and the cost model. It traces nothing and starts no process.

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
  std::vector<dif::Variable> variables;           // of the script's own; empty if it has errors
  std::vector<std::string> aggregations;
  std::vector<ClauseCost> costs;
};

class Language {
 public:
  // An error: an option that the command line gives is wrong, or its process has ended.
  static Result<std::unique_ptr<Language>> open(const ScriptOptions& given);

  Checked check(const std::string& name, const std::string& text) const;
  std::vector<compiler::MemberOfType> members(const std::string& name, std::string_view text, const Cursor& cursor) const;
  std::vector<std::string> descriptions(const std::string& typed) const;
  // Why there are no costs; empty: there are.
  const std::string& no_costs() const { return no_costs_; }

 private:
  Language(const ScriptOptions& given);
  std::vector<ClauseCost> costs(const std::vector<compiler::CompiledSource>& programs) const;

  ScriptOptions given_;
  runtime::Handle handle_;  // finds probes of the process, whose arguments `types_` is asked for
  std::optional<TargetCatalog> types_;
  compiler::CompileOptions how_;
  dif::Options options_;
  std::optional<vm::Profile> profile_;
  std::string no_costs_;
};

}  // namespace dvm::cmd::lsp
