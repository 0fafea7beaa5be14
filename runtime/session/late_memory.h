#pragma once
// Names the clauses that will read memory after their firings: at an address in a variable that cannot be captured.

#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/backend/backend.h"
#include "runtime/instrument/instrument.h"

namespace dvm::runtime {

// BEGIN, END, ERROR and tick-N. There is no time between the firing and its clauses.
bool is_fired_by_dvm(const Probe& probe);

class LateMemoryNotes {
 public:
  // The notes for probes that have been turned on, without refused ones. Each variable of a clause is named once.
  std::vector<std::string> take(std::span<const EnabledProbe> probes, std::span<const Refused> refused,
                                const BackendList& backends);

 private:
  std::set<std::pair<unsigned, std::string>> told_;
};

}  // namespace dvm::runtime
