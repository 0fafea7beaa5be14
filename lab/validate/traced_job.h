#pragma once
// The workload (workload.cpp) as a child that does a job when told, also while it is traced. It ends with its object, or
// with dvm.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/or_throw.h"
#include "common/piped_child.h"
#include "dvm/runtime/handle.h"

namespace dvm::lab {

struct Job {
  std::string name;
  long rounds = 0;
  long burst = 0, period = 0;      // after so many of them it sleeps until so many ns after their beginning; 0: it does not
  unsigned threads = 1, keys = 1;  // of paced: rounds are calls a second of each thread, the period the ms that it takes
};

// Times of a job, in ns. cpu: with an idle SMT sibling.
struct JobTimes {
  double cpu = 0, wall = 0;
  double calls = 0;     // that were made
  double quiet = 1;     // share of the rounds with an idle sibling
  double slowdown = 1;  // time of all rounds relative to cpu
};

// Throws an Error on failure.
class WorkloadChild {
 public:
  static std::unique_ptr<WorkloadChild> start(const std::string& program);

  pid_t pid() const { return child_->pid(); }
  void order(const Job& job);
  void wait() const { child_->wait(-1); }  // until it is done, or gone
  JobTimes finish();                       // waits
  JobTimes run(const Job& job);

 private:
  explicit WorkloadChild(std::unique_ptr<PipedChild> child) : child_(std::move(child)) {}

  std::unique_ptr<PipedChild> child_;
};

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
  // In ns: the CPU time of the thread that handles firings, undisturbed; the length of tracing; the busy time of all CPUs by
  // /proc/stat.
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
