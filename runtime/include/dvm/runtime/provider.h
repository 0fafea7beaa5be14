#pragma once
// A provider finds probes. How they fire is the instrument's part, by the site of a probe.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/dif/program.h"

namespace dvm::runtime {

class Catalog;

// A provider's answer to a description.
struct Discovery {
  std::string reason;                // why nothing was found: "failed to lookup 'f' in module 'm'"; may be empty
  std::string tag;                   // the D_* tag of that reason
  std::vector<std::string> similar;  // near names, best first
  // What would help, in sentences. May search the files of the process, so it is called only to report an error.
  std::function<std::vector<std::string>()> advise = nullptr;
};

class Provider {
 public:
  virtual ~Provider() = default;
  virtual std::string_view name() const = 0;
  // False: its probes have other provider names.
  virtual bool is_named_in_descriptions() const { return true; }
  // Adds the probes that the description may match, if its provider field can match this provider.
  virtual Discovery discover(const dif::ProbeDesc& description, Catalog& catalog) = 0;
  // Makes descriptions of process `root` also match files that its descendant `pid` has mapped.
  virtual void look_in(int32_t /*root*/, int32_t /*pid*/) {}
};

}  // namespace dvm::runtime
