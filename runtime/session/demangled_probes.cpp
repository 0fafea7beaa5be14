// Renaming. Tested by tests/runtime/pid/tst.demangled.d.
#include "runtime/session/demangled_probes.h"

#include "runtime/symbol/demangle.h"

namespace dvm::runtime {

const Probe* DemangledProbes::rename(const Probe& probe) {
  const auto [known, is_new] = by_id_.try_emplace(probe.id, &probe);
  if (!is_new) return known->second;
  std::string name = demangle_without_arguments(probe.function);
  if (name.empty()) return &probe;
  Probe& copy = renamed_.emplace_back(probe);
  copy.other_names.push_back(std::move(copy.function));  // still a name to ask for
  copy.function = std::move(name);
  return known->second = &copy;
}

std::vector<const Probe*> DemangledProbes::rename(std::vector<const Probe*> probes) {
  for (const Probe*& probe : probes) probe = rename(*probe);
  return probes;
}

}  // namespace dvm::runtime
