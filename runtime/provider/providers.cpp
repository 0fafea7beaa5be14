// Expands the table of providers. Covered by tests/unit/instrument/providers_test.cpp.

#include "runtime/provider/providers.h"

namespace dvm::runtime {

std::vector<std::unique_ptr<Provider>> make_providers() {
  std::vector<std::unique_ptr<Provider>> all;
#define DVM_PROVIDER(name, factory) all.push_back(factory());
#include "runtime/provider/providers.def"
#undef DVM_PROVIDER
  return all;
}

}  // namespace dvm::runtime
