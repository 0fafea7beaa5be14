#pragma once
// An ECB (enabling control block): one clause on one probe. Enabling (runtime/enabling) makes it; the ECB loop (fire.h) runs its
// code; the consumer reads its records by its plan. It is immutable, so contexts share it.

#include <vector>

#include "runtime/catalog/probe.h"
#include "runtime/plan/plan.h"
#include "runtime/probe/code.h"

namespace dvm::runtime {

struct Ecb {
  Epid epid = 0;
  const Probe* probe = nullptr;
  const EcbPlan* plan = nullptr;
  const EcbCode* code = nullptr;
};

// The ECBs of one probe, in program order.
struct ProbeEcbs {
  const Probe* probe = nullptr;
  std::vector<const Ecb*> ecbs;
  bool needs_machine = false;  // some ECB has DIF to run
  bool outlives_exit = false;  // END and ERROR fire after exit() too

  // The fast path of firings without accounting (enter.h). Null: there is none.
  vm::PreparedBody::Next enter = nullptr;
  vm::PreparedBody::Gate gate = nullptr;   // runs before `enter`
  const vm::PreparedBody* body = nullptr;  // `enter` runs it
};

}  // namespace dvm::runtime
