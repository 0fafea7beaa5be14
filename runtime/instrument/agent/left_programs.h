#pragma once
// Programs that processes have left by executing others. Their last firings are still read. After that nothing is kept of them,
// however often a process executes a program. Tested by tests/runtime/scenarios/test_wrappers.py.

#include <sys/types.h>

#include <cstdint>

#include "runtime/instrument/agent/gone_threads.h"
#include "runtime/instrument/agent/lost_probes.h"

namespace dvm::runtime {

class LeftPrograms {
 public:
  // Nothing is on in the programs that the process has left.
  static void end(AgentTargets& targets, pid_t pid);
  // The aggregations of all targets were read.
  static void note_read(AgentTargets& targets);
  // So many have aggregations to be read that this should not wait for its time.
  static bool are_many(const AgentTargets& targets);
  // Forgets those that have nothing left. aggregates: clauses do so in threads.
  void free(AgentTargets& targets, bool aggregates, GoneThreads& gone);
  // Firings of those that were forgotten.
  uint64_t lost() const { return lost_; }

 private:
  uint64_t lost_ = 0;
};

}  // namespace dvm::runtime
