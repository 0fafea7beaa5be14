#pragma once
// A job of the workload while it is traced, and what it took of dvm.

#include "lab/validate/traced_program.h"
#include "lab/validate/workload_child.h"

namespace dvm::lab {

struct JobRun {
  JobTimes times;
  double dvm = 0;     // ns of CPU of the thread that handles firings, as on a core of its own
  double worked = 0;  // ns until that was over: longer than the job, or shorter if tracing ended by itself
  double quiet = 0;   // share of its looks for firings for which its core was its own
};

// From the order until the job is done, handling firings meanwhile: in the handle's thread, whose probes are on already.
Result<JobRun> run_job(Handle& handle, const Job& job, WorkloadChild& child);

struct TracedJob {
  JobTimes times;
  double dvm = 0;         // ns of CPU of the thread that handles firings
  double handled = 0;     // firings
  double lost = 0;        // firings that found no room in the ring
  double worked = 0;      // ns, as in JobRun
  double unrecorded = 0;  // drops of any other kind
  double quiet = 0;       // as in JobRun
};

// The program's probes must be on already; it is stopped.
Result<TracedJob> trace_job(TracedProgram& program, const Job& job, WorkloadChild& child);

}  // namespace dvm::lab
