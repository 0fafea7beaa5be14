#pragma once
// The processes that a run traces: those of -p, then those of -c, which wait before their first instruction until resume().

#include <sys/types.h>

#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "dvm/common/result.h"
#include "dvm/dif/option.h"
#include "runtime/process/process.h"

namespace dvm::cmd {

struct ScriptOptions;

class Targets {
 public:
  // terminal: stands in for one that programs of -c would write to; -1: nothing does.
  static Result<Targets> open(const ScriptOptions& given, const dif::Options& options, int terminal = -1);
  Targets() = default;
  Targets(Targets&&) = default;
  Targets& operator=(Targets&&) = default;
  ~Targets() { stop_watching(); }

  pid_t first() const { return processes_.empty() ? 0 : processes_.front().pid(); }
  // is_held: true for a process that an instrument holds; the instrument lets it run.
  Status resume(const std::function<bool(pid_t)>& is_held);
  // Calls the function from a thread of its own once all processes are gone; never if there are none.
  void watch(std::function<void()> all_gone);
  void stop_watching();
  // How each target that has exited since the last call has ended; with_success: also those that dvm started and that succeeded.
  std::vector<std::string> take_exit_notices(bool with_success);

 private:
  std::vector<runtime::Process> processes_;
  std::set<pid_t> told_;  // whose ending has been taken
  std::jthread watcher_;
};

}  // namespace dvm::cmd
