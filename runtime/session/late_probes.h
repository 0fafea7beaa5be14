#pragma once
// Follows traced processes while they map files, fork and execute programs.
//
//   the dynamic linker has mapped files ── match descriptions again ── make ECBs on new probes ── turn them on ── it continues
//
// This concerns only descriptions that may match files which are not mapped yet: the module is empty, a glob or a.out, or the
// description matches nothing so far (-Z). Probes that are on stay on: the kernel places them in every mapping of their file.

#include <vector>

#include "runtime/session/probing.h"

namespace dvm::runtime {

class LateProbes {
 public:
  LateProbes(Probing& probing, Catalog& catalog, const Enabling& enabling, Consumer& consumer, const BackendList& backends)
      : probing_(probing), catalog_(catalog), enabling_(enabling), consumer_(consumer), backends_(backends) {}

  // Begins to trace children of the traced processes. Call before probes are on.
  Status follow_forks();
  // Begins to watch which files the processes map. Call after probes are on.
  void watch_loads();
  // Call after each poll. Resolves addresses first, before a process can map something else there.
  void take_up_changes();
  void match_loads();
  // True if a forked process is left.
  bool has_descendants() const;

 private:
  Status enable_loads();
  void look_for_room();

  Probing& probing_;
  Catalog& catalog_;
  const Enabling& enabling_;
  Consumer& consumer_;
  const BackendList& backends_;
  std::vector<int32_t> watched_;  // processes whose mapped files are watched
  bool has_room_ = true;          // for descriptors
};

}  // namespace dvm::runtime
