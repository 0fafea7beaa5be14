// Providers that dvm does not have: names a substitute for each. Tested by tests/unit/instrument/providers_test.cpp.

#include <fmt/format.h>

#include "runtime/catalog/catalog.h"
#include "runtime/provider/providers.h"

namespace dvm::runtime {
namespace {

struct AbsentRow {
  std::string_view name, subject, instead;
};

constexpr AbsentRow kAbsent[] = {
#define DVM_ABSENT(name, subject, instead) {#name, subject, instead},
#include "runtime/provider/absent.def"
#undef DVM_ABSENT
};

class AbsentProvider : public Provider {
 public:
  std::string_view name() const override { return "absent"; }
  bool is_named_in_descriptions() const override { return false; }

  Discovery discover(const dif::ProbeDesc& description, Catalog&) override {
    const std::string refusal = refusal_of_absent(description.provider);
    return refusal.empty() ? Discovery() : Discovery{refusal, "D_PDESC_ZERO", {}};
  }
};

}  // namespace

std::string refusal_of_absent(std::string_view provider) {
  for (const AbsentRow& row : kAbsent)
    if (row.name == provider) return fmt::format("dvm has no {} provider, for {}; {}", row.name, row.subject, row.instead);
  return "";
}

std::unique_ptr<Provider> make_absent_provider() { return std::make_unique<AbsentProvider>(); }

}  // namespace dvm::runtime
