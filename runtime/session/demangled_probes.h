#pragma once
// Unless -x demangle=off: probes of C++ and Rust functions under the names that people write. What is printed of such a probe,
// and `probefunc`, is then the demangled name without arguments; its symbol still matches.

#include <deque>
#include <unordered_map>
#include <vector>

#include "runtime/catalog/probe.h"

namespace dvm::runtime {

class DemangledProbes {
 public:
  // The same probes; of each whose function is mangled a copy with its other name, always the same copy, which stays.
  std::vector<const Probe*> rename(std::vector<const Probe*> probes);

 private:
  const Probe* rename(const Probe& probe);

  std::deque<Probe> renamed_;
  std::unordered_map<uint32_t, const Probe*> by_id_;
};

}  // namespace dvm::runtime
