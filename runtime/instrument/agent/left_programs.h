#pragma once
// Programs that processes have left by executing others. Tested by tests/runtime/scenarios/test_wrappers.py.

#include <sys/types.h>

#include "runtime/instrument/agent/lost_probes.h"

namespace dvm::runtime {

class LeftPrograms {
 public:
  // Nothing is on in the programs that the process has left.
  static void end(AgentTargets& targets, pid_t pid);
};

}  // namespace dvm::runtime
