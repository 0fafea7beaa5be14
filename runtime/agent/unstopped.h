#pragma once
// Work on a traced process that goes on if dvm is stopped.
//
// The traced process stands still during such work. If a signal or a debugger stops dvm then, the process would stand as long as
// dvm does. So another process does the work, which shares the memory and the files of dvm (vfork(2)). Meanwhile the kernel
// suspends the calling thread, and stops it only afterwards. If dvm is killed, the kernel ends the other process, too, and lets
// the traced process go on.

#include <sys/types.h>

#include <functional>
#include <optional>
#include <utility>

#include "dvm/common/result.h"

namespace dvm::runtime {

// The calling thread does the work itself if it is the tracer of the process already, or if only ancestors of a process may
// trace it (yama). The work starts no threads, throws nothing, and leaves no thread of the process traced.
void work_unstopped(pid_t pid, const std::function<void()>& work);

// The same for work that returns a Status or a Result.
template <class Work>
auto unstopped(pid_t pid, const Work& work) -> decltype(work()) {
  std::optional<decltype(work())> done;
  work_unstopped(pid, [&] { done.emplace(work()); });
  if (!done) return Error{"the work on the process was interrupted"};
  return *std::move(done);
}

// The number of dvm, also during such work.
pid_t tracer_pid();

}  // namespace dvm::runtime
