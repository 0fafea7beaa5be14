#pragma once
// Gives probes of C++ and Rust functions their demangled names, unless -x demangle=off. Output and `probefunc` then show the
// demangled name without arguments. Descriptions may still use the symbol.

#include <deque>
#include <unordered_map>
#include <vector>

#include "runtime/catalog/probe.h"

namespace dvm::runtime {

class DemangledProbes {
 public:
  // Replaces each probe with a mangled function name by a renamed copy. A probe always has the same copy, which is kept.
  std::vector<const Probe*> rename(std::vector<const Probe*> probes);

 private:
  const Probe* rename(const Probe& probe);

  std::deque<Probe> renamed_;
  std::unordered_map<uint32_t, const Probe*> by_id_;
};

}  // namespace dvm::runtime
