#pragma once
// What happens to processes while they are traced: they map files whose probes are turned on late, fork, and become other
// programs.
//
//   the dynamic linker has mapped files ── descriptions are matched again ── ECBs on the new probes ── on; then it goes on
//
// Only for descriptions that may mean what is not mapped yet: a module that is a glob or none, a.out, or one that matches nothing
// so far (-Z). Probes that are on already stay: the kernel puts them into every mapping of their file.

#include <vector>

#include "runtime/session/probing.h"

namespace dvm::runtime {

class LateProbes {
 public:
  LateProbes(Probing& probing, Catalog& catalog, const Enabling& enabling, Consumer& consumer, const BackendList& backends)
      : probing_(probing), catalog_(catalog), enabling_(enabling), consumer_(consumer), backends_(backends) {}

  // Before probes are on: what the traced processes fork is traced as well.
  Status follow_forks();
  // Once probes are on: processes say which files they map.
  void watch_loads();
  // After each poll. Addresses are named first, before a process maps something else where they were.
  void take_up_changes();
  void match_loads();
  // Whether a process that was forked is left.
  bool has_descendants() const;

 private:
  Status enable_loads();

  Probing& probing_;
  Catalog& catalog_;
  const Enabling& enabling_;
  Consumer& consumer_;
  const BackendList& backends_;
  std::vector<int32_t> watched_;  // processes that tell of files which they map
};

}  // namespace dvm::runtime
