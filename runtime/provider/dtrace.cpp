// The dtrace provider: BEGIN, END and ERROR. Covered by tests/unit/instrument/providers_test.cpp.

#include "runtime/catalog/catalog.h"
#include "runtime/provider/providers.h"

namespace dvm::runtime {
namespace {

class DtraceProvider : public Provider {
 public:
  std::string_view name() const override { return "dtrace"; }

  Discovery discover(const dif::ProbeDesc&, Catalog& catalog) override {
    uint32_t id = 1;
    for (const char* probe : {"BEGIN", "END", "ERROR"}) {
      catalog.add_with_id(Probe{.id = id++, .provider = "dtrace", .name = probe, .site = InternalSite{}});
    }
    return {};
  }
};

}  // namespace

std::unique_ptr<Provider> make_dtrace_provider() { return std::make_unique<DtraceProvider>(); }

}  // namespace dvm::runtime
