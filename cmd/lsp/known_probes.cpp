// Covered by tests/runtime/scenarios/test_lsp.py.

#include "cmd/lsp/known_probes.h"

#include <string>
#include <utility>

#include "cmd/firing_source.h"
#include "runtime/catalog/catalog.h"
#include "runtime/provider/providers.h"

namespace dvm::cmd::lsp {
namespace {

bool has_pattern(const std::string& field) { return field.empty() || field.find_first_of("*?[") != std::string::npos; }

}  // namespace

KnownProbes::KnownProbes(runtime::Handle& handle) : handle_(handle) {
  for (auto& provider : runtime::make_providers()) handle_.add_provider(std::move(provider));
}

compiler::ProbeMatches KnownProbes::match(const dif::ProbeDesc& description) {
  if (description.provider.ends_with("$target")) return {1, "", "", {}};
  dif::ProbeDesc asked = description;
  // Otherwise each instruction of each function would become a probe.
  if (asked.provider.starts_with("pid") && has_pattern(asked.name)) asked.name = "entry";
  return match_probes(handle_, asked, true);
}

std::optional<dif::ProbeDesc> KnownProbes::find(uint64_t id) {
  if (!std::exchange(has_numbers_, true)) number_probes(handle_);
  return find_probe(handle_, id);
}

}  // namespace dvm::cmd::lsp
