#pragma once
// The peer that the benchmarks of firings compare with.

#include <memory>
#include <string>

#include "bench/runtime/workload.h"
#include "lab/validate/bpftrace_peer.h"

namespace dvm::bench {

// On the workload, until the end of the object.
inline std::unique_ptr<lab::BpftracePeer> start_bpftrace(pid_t pid, const std::string& program) {
  return must(lab::BpftracePeer::start(pid, program));
}

}  // namespace dvm::bench
