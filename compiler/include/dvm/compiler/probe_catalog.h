#pragma once
// The compiler's questions about probes. Its caller answers them; the compiler knows no provider.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/dif/program.h"

namespace dvm::compiler {

struct ProbeMatches {
  size_t count = 0;
  std::string reason;                // why there is none, if more is known: "failed to lookup 'f' in module 'm'"
  std::string tag;                   // tag for that reason, e.g. D_PROC_FUNC; empty: D_PDESC_ZERO
  std::vector<std::string> similar;  // near names, best first
};

class ProbeCatalog {
 public:
  virtual ProbeMatches match(const dif::ProbeDesc& description) = 0;
  // The probe with that number, if there is one.
  virtual std::optional<dif::ProbeDesc> find(uint64_t) { return {}; }
  // True if there is such a provider, with or without probes.
  virtual bool has_provider(std::string_view) { return true; }

 protected:
  ~ProbeCatalog() = default;
};

}  // namespace dvm::compiler
