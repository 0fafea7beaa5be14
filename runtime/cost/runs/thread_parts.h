#pragma once
// The cost of a run in the threads that an agent traces. dvm cannot time it: the counts come from the account, and are exact; the
// prices come from a profile. In a run with an account, dvm runs all clauses, to count them, so each firing leaves a record.

#include <span>
#include <string>
#include <vector>

#include "dvm/dif/program.h"
#include "dvm/runtime/handle.h"
#include "runtime/cost/assumptions.h"
#include "runtime/cost/prices.h"
#include "runtime/instrument/capture_needs.h"

namespace dvm::runtime {

struct ThreadStage {
  std::string name;
  uint64_t count = 0;
  vm::Cost each;
};

// The stages of the firings of a probe.
struct ThreadPart {
  const Probe* probe = nullptr;
  std::vector<ThreadStage> paid;
  std::vector<ThreadStage> otherwise;  // the stages in a run without an account; empty: the same
};

// A probe that an agent made fire.
struct AgentFirings {
  const Probe* probe = nullptr;
  CaptureNeeds needs;                      // of the record
  AgentWay way;                            // in a run without an account
  std::vector<const EcbAccount*> clauses;  // in the order of `way`
};

std::vector<AgentFirings> find_agent_firings(Handle& handle, std::span<const dif::Program* const> programs,
                                             const Account& account);

// agent: the prices of the traced thread. Strings and stacks are assumed to have their expected sizes.
ThreadPart price_thread(const AgentFirings& firings, Prices& agent, Prices& dvm);

}  // namespace dvm::runtime
