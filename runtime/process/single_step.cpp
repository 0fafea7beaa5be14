#include "runtime/process/single_step.h"

#include <signal.h>
#include <sys/ptrace.h>

#include <cstdlib>

#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

// Not one that the program has sent, or that of its own breakpoint instruction.
bool is_of_step(const siginfo_t& info) { return info.si_code == TRAP_TRACE || info.si_code == TRAP_BRKPT; }

bool is_queued(pid_t tid) {
  constexpr uint64_t kTrap = uint64_t{1} << (SIGTRAP - 1);
  return (std::strtoull(status_field(tid, "SigPnd:").c_str(), nullptr, 16) & kTrap) != 0;
}

}  // namespace

SingleStep single_step_at(pid_t tid, int signal) {
  siginfo_t info{};
  if (signal == SIGTRAP && ptrace(PTRACE_GETSIGINFO, tid, 0, &info) == 0 && is_of_step(info)) return SingleStep::done;
  return is_queued(tid) ? SingleStep::queued : SingleStep::cut;
}

bool is_of_breakpoint(pid_t tid, int signal) {
  siginfo_t info{};
  return signal == SIGURG && ptrace(PTRACE_GETSIGINFO, tid, 0, &info) == 0 && info.si_code == POLL_IN;
}

}  // namespace dvm::runtime
