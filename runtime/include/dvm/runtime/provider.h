#pragma once
// A provider makes probes. It knows how to find them, not how firings arrive: that is the instrument's part, by the probe's site.

#include <string>
#include <string_view>
#include <vector>

#include "dvm/dif/program.h"

namespace dvm::runtime {

class Catalog;

// A provider's answer to a description that is meant for it.
struct Discovery {
  std::string reason;                // why nothing was found, if more is known: "failed to lookup 'f' in module 'm'"
  std::string tag;                   // the D_* tag of that reason
  std::vector<std::string> similar;  // near names, best first
};

class Provider {
 public:
  virtual ~Provider() = default;
  virtual std::string_view name() const = 0;
  // False: its probes have names of other providers.
  virtual bool is_named_in_descriptions() const { return true; }
  // Adds the probes that the description may mean, if its provider field can be this provider's.
  virtual Discovery discover(const dif::ProbeDesc& description, Catalog& catalog) = 0;
  // Descriptions of process `root` mean from now on, too, what another one has mapped that comes from it.
  virtual void look_in(int32_t /*root*/, int32_t /*pid*/) {}
};

}  // namespace dvm::runtime
