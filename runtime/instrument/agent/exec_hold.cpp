// Tested by tests/runtime/scenarios/test_lost_probes.py.

#include "runtime/instrument/agent/exec_hold.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <string>

#include "common/clock.h"
#include "runtime/agent/stopped_process.h"
#include "runtime/instrument/agent/gains_rights.h"
#include "runtime/instrument/breakpoint/debug_register.h"
#include "runtime/process/start.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kWithin = 2'000'000'000, kStopsWithin = 50'000'000;  // ns
constexpr useconds_t kPause = 50;

bool is_event(int status, int event) { return status >> 16 == event; }
bool is_call(int status) { return status >> 16 == 0 && WSTOPSIG(status) == (SIGTRAP | 0x80); }
bool is_group_stop(int status) { return is_event(status, PTRACE_EVENT_STOP) && WSTOPSIG(status) != SIGTRAP; }

// A thread that dvm traces until it is let go.
class Execing {
 public:
  Execing(pid_t pid, pid_t tid) : pid_(pid), tid_(tid) {}
  ~Execing() { leave(); }
  Execing(const Execing&) = delete;
  Execing& operator=(const Execing&) = delete;

  bool seize() {
    constexpr long kOptions = PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD;
    is_traced_ = ptrace(PTRACE_SEIZE, tid_, 0, kOptions) == 0 && ptrace(PTRACE_INTERRUPT, tid_, 0, 0) == 0;
    return is_traced_ && next();
  }

  // To the exec of a program. False: it makes another call, or is gone.
  bool run_to_exec() {
    while (go_on(PTRACE_SYSCALL)) {
      if (is_event(status_, PTRACE_EVENT_EXEC)) return true;
      if (is_group_stop(status_) || (is_call(status_) && !is_wanted_call())) return false;
    }
    return false;
  }

  // To an address. False: it does not come there, or is gone.
  bool run_to(uint64_t address) {
    const DebugRegister there = DebugRegister::set(tid_, address);
    user_regs_struct registers{};
    while (there && go_on(PTRACE_CONT) && !is_group_stop(status_))
      if (signal() == SIGURG && ptrace(PTRACE_GETREGS, tid_, 0, &registers) == 0 && registers.rip == address)
        return is_traced_ = false, true;
    return false;
  }

 private:
  // A signal that it is about to take.
  int signal() const { return status_ >> 16 == 0 && !is_call(status_) ? WSTOPSIG(status_) : 0; }

  bool go_on(__ptrace_request how) {
    is_stopped_ = false;
    return ptrace(how, tid_, 0, signal()) == 0 && next();
  }

  // The thread that executes a program takes over the number of the first one.
  bool next(uint64_t within = kWithin) {
    const uint64_t deadline = read_clock(CLOCK_MONOTONIC) + within;
    while (read_clock(CLOCK_MONOTONIC) < deadline) {
      pid_t found = waitpid(tid_, &status_, __WALL | WNOHANG);
      if (found < 0 && errno == ECHILD && tid_ != pid_) found = waitpid(tid_ = pid_, &status_, __WALL | WNOHANG);
      if (found < 0 && errno != EINTR) return is_traced_ = false;
      if (found == tid_) return is_stopped_ = is_traced_ = WIFSTOPPED(status_);
      usleep(kPause);
    }
    return false;
  }

  // Calls of the stub, and those that execute. Of the latter, the file gives no rights.
  bool is_wanted_call() const {
    constexpr std::array<uint64_t, 4> kOfStub = {SYS_getpid, SYS_gettid, SYS_ppoll, SYS_restart_syscall};
    __ptrace_syscall_info info{};
    if (ptrace(PTRACE_GET_SYSCALL_INFO, tid_, sizeof info, &info) <= 0) return false;
    if (info.op != PTRACE_SYSCALL_INFO_ENTRY) return true;
    if (info.entry.nr == SYS_execve) return !gains_rights({pid_, tid_, AT_FDCWD, info.entry.args[0]});
    if (info.entry.nr == SYS_execveat)
      return !gains_rights({pid_, tid_, static_cast<int>(info.entry.args[0]), info.entry.args[1]});
    return std::find(kOfStub.begin(), kOfStub.end(), info.entry.nr) != kOfStub.end();
  }

  void leave() {
    if (!is_traced_) return;
    if (!is_stopped_ && (ptrace(PTRACE_INTERRUPT, tid_, 0, 0) != 0 || !next(kStopsWithin))) return release_later(tid_);
    ptrace(PTRACE_DETACH, tid_, 0, signal());
  }

  pid_t pid_, tid_;
  int status_ = 0;
  bool is_traced_ = false, is_stopped_ = false;
};

}  // namespace

bool hold_exec(pid_t pid, pid_t tid, const std::function<void()>& tell) {
  if (status_field(tid, "Tgid:") != std::to_string(pid)) return false;
  Execing thread(pid, tid);
  const bool is_seized = thread.seize();
  tell();
  if (!is_seized || !thread.run_to_exec() || !is_64_bit_program(pid)) return false;
  const std::optional<uint64_t> entry = entry_point(pid);
  return entry && thread.run_to(*entry);
}

void end_hold(pid_t pid) { ptrace(PTRACE_DETACH, pid, 0, 0); }

}  // namespace dvm::runtime
