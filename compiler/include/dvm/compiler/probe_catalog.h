#pragma once
// The interface through which the compiler asks its caller for probes. The compiler itself knows no provider.

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
  std::string reason;              // why none matches: "failed to lookup 'f' in module 'm'"; may be empty
  std::string tag;                 // the tag of that error, for example D_PROC_FUNC; empty: D_PDESC_ZERO
  std::vector<std::string> hints;  // "did you mean 'g'?"
};

class ProbeCatalog {
 public:
  virtual ProbeMatches match(const dif::ProbeDesc& description) = 0;
  // The probe with the number that `dvm list` shows, if there is one.
  virtual std::optional<dif::ProbeDesc> find(uint64_t) { return {}; }
  // True if there is such a provider, with or without probes.
  virtual bool has_provider(std::string_view) { return true; }

 protected:
  ~ProbeCatalog() = default;
};

}  // namespace dvm::compiler
