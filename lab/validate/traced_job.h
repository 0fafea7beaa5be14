#pragma once
// A job of the workload while it is traced.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dvm/runtime/handle.h"
#include "lab/validate/workload_child.h"

namespace dvm::lab {

// A program that is ready to trace a process: compiled for it, enabled, printing nowhere.
class TracedProgram {
 public:
  virtual ~TracedProgram() = default;
  virtual runtime::Handle& handle() = 0;
  virtual std::vector<const dif::Program*> programs() const = 0;
};

// Makes one. settings: as for -x.
using OpenTraced = std::function<Result<std::unique_ptr<TracedProgram>>(const std::string& text,
                                                                        const std::vector<std::string>& settings, int32_t pid)>;

struct TracedJob {
  JobTimes times;
  double dvm = 0;         // CPU time of the thread that handles firings, undisturbed, in ns
  double worked = 0;      // length of tracing, in ns
  double busy = 0;        // busy time of all CPUs by /proc/stat, in ns
  double quiet = 0;       // share of polls with an idle SMT sibling
  double handled = 0;     // firings
  double lost = 0;        // firings dropped by the ring
  double unrecorded = 0;  // other drops
};

// Ns since the machine started that all CPUs together were busy, in ticks of the kernel's clock.
double busy_time();

// Runs the job and handles its firings meanwhile, in the handle's thread; the probes must be on. The program is stopped.
Result<TracedJob> trace_job(TracedProgram& program, const Job& job, WorkloadChild& child);

}  // namespace dvm::lab
