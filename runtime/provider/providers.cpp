// Expands the table of providers. Covered by tests/unit/instrument/providers_test.cpp.

#include "runtime/provider/providers.h"

#include <string_view>

namespace dvm::runtime {

std::vector<std::unique_ptr<Provider>> make_providers() {
  std::vector<std::unique_ptr<Provider>> all;
#define DVM_PROVIDER(id, factory, name, text) all.push_back(factory());
#include "runtime/provider/providers.def"
#undef DVM_PROVIDER
  return all;
}

namespace {

struct ProviderRow {
  std::string_view id, name, text;
};

constexpr ProviderRow kProviders[] = {
#define DVM_PROVIDER(id, factory, name, text) {#id, name, text},
#include "runtime/provider/providers.def"
#undef DVM_PROVIDER
};

}  // namespace

std::string_view provider_text(std::string_view name) {
  const std::string_view word = name.substr(0, name.find_last_not_of("0123456789") + 1);
  const bool has_pid = word.size() < name.size();
  for (const ProviderRow& row : kProviders)
    if (!row.name.empty() && row.name == word && (row.id == "pid") == has_pid) return row.text;
  for (const ProviderRow& row : kProviders)
    if (row.id == "usdt" && has_pid && !word.empty()) return row.text;
  return "";
}

}  // namespace dvm::runtime
