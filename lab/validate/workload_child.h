#pragma once
// The workload (workload.cpp) as a child that does a job when told. It ends with this object, or with dvm.

#include <memory>
#include <string>
#include <utility>

#include "common/or_throw.h"
#include "common/piped_child.h"

namespace dvm::lab {

struct Job {
  std::string name;
  long rounds = 0;
  long burst = 0, period = 0;      // after so many of them it rests until so many ns after their beginning; 0: it does not
  unsigned threads = 1, keys = 1;  // of paced: rounds are calls a second of each thread, the period the ms that it takes
};

// Times of a job, in ns. cpu: with an idle SMT sibling.
struct JobTimes {
  double cpu = 0, wall = 0;
  double calls = 0;     // that were made
  double quiet = 1;     // share of the rounds with an idle sibling
  double slowdown = 1;  // time of all rounds relative to cpu
};

// What fails throws an Error.
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

}  // namespace dvm::lab
