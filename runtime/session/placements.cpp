// Tested by tests/unit/runtime/backend_test.cpp.

#include "runtime/session/placements.h"

#include <algorithm>
#include <utility>

namespace dvm::runtime {
namespace {

bool is_same(const Placement& a, const Placement& b) {
  return a.clause == b.clause && a.backend == b.backend && a.by == b.by && a.engine == b.engine && a.reason == b.reason &&
         a.others == b.others;
}

void add_others(std::vector<PassedOver> others, Placement& placement) {
  for (PassedOver& other : others) placement.others.emplace_back(std::move(other.name), std::move(other.reason));
}

}  // namespace

Placement placement_of(const EcbPlan& plan, const Probe& probe, const BackendList& backends) {
  Placement placement;
  placement.probe = &probe;
  for (const auto& backend : backends) {
    Answer answer = backend->answer(plan, probe);
    if (!answer.is_taken()) {
      if (answer.others.empty()) answer.others.push_back({std::string(backend->name()), answer.reason});
      if (placement.reason.empty()) placement.reason = std::move(answer.reason);
      add_others(std::move(answer.others), placement);
      continue;
    }
    placement.backend = backend->name();
    placement.by = std::move(answer.by);
    placement.engine = std::move(answer.engine);
    placement.reason.clear();
    add_others(std::move(answer.others), placement);
    break;
  }
  return placement;
}

Placement placement_of(const Ecb& ecb, const BackendList& backends) {
  Placement placement = placement_of(*ecb.plan, *ecb.probe, backends);
  placement.clause = ecb.plan->clause;
  if (!placement.backend.empty() && placement.engine.empty())
    placement.engine = ecb.code->engine, placement.engine_problem = ecb.code->problem;
  return placement;
}

std::vector<Placement> placements_of(const Enabling& enabling, const BackendList& backends) {
  std::vector<Placement> all;
  for (const Ecb& ecb : enabling.ecbs()) {
    Placement placement = placement_of(ecb, backends);
    const auto same = std::find_if(all.begin(), all.end(), [&](const Placement& one) { return is_same(one, placement); });
    if (same != all.end())
      same->probes++;
    else
      all.push_back(std::move(placement));
  }
  return all;
}

}  // namespace dvm::runtime
