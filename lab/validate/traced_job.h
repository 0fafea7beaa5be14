#pragma once
// The workload (workload.cpp) as a child that does a job when told, also while it is traced.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/or_throw.h"
#include "common/piped_child.h"
#include "dvm/runtime/handle.h"
#include "lab/validate/job.h"

namespace dvm::lab {

using WorkloadChild = AnsweringChild<Job, JobTimes>;
WorkloadChild start_workload(const std::string& program);  // throws an Error

// A program that is ready to trace a process: compiled for it, enabled, printing nowhere.
class TracedProgram {
 public:
  virtual ~TracedProgram() = default;
  virtual runtime::Handle& handle() = 0;
  virtual std::vector<const dif::Program*> programs() const = 0;
};

// Makes one. settings: words, as for -x.
using OpenTraced =
    std::function<Result<std::unique_ptr<TracedProgram>>(std::string_view text, std::string_view settings, int32_t pid)>;

struct TracedJob {
  JobTimes times;
  // In ns: CPU time of the thread that handles firings, undisturbed; length of tracing; busy time of all CPUs (/proc/stat).
  double dvm = 0, worked = 0, busy = 0;
  double quiet = 0;  // share of polls with an idle SMT sibling
  // Firings that were handled, firings that the ring dropped, and other drops.
  double handled = 0, lost = 0, unrecorded = 0;
};

// Ns since the machine started that all CPUs together were busy, in ticks of the kernel's clock.
double busy_time();

// Runs the job and handles its firings meanwhile, in the handle's thread; the probes must be on. The program is stopped.
// Throws an Error if the child or the handle fails.
TracedJob trace_job(TracedProgram& program, const Job& job, WorkloadChild& child);

}  // namespace dvm::lab
