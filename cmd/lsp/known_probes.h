#pragma once
// The probes that a script may name in an editor, of this host and of the process of -p.

#include "cmd/script.h"

namespace dvm::cmd::lsp {

class KnownProbes final : public compiler::ProbeCatalog {
 public:
  explicit KnownProbes(runtime::Handle& handle);

  // $target without a process matches: its probes cannot be known.
  compiler::ProbeMatches match(const dif::ProbeDesc& description) override;
  std::optional<dif::ProbeDesc> find(uint64_t id) override;

 private:
  runtime::Handle& handle_;
  bool has_numbers_ = false;
};

}  // namespace dvm::cmd::lsp
