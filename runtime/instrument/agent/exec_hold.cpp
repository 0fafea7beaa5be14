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
#include "runtime/agent/target_check.h"
#include "runtime/agent/unstopped.h"
#include "runtime/instrument/agent/gains_rights.h"
#include "runtime/instrument/agent/loaded_program.h"
#include "runtime/instrument/breakpoint/debug_register.h"
#include "runtime/process/interrupted_call.h"
#include "runtime/process/reaped.h"
#include "runtime/process/seize.h"
#include "runtime/process/start.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

// Until the kernel has executed a program, until the thread tries to, until it tries again while it runs, and until it stops, in
// ns. A program that was missed may execute the next one soon.
constexpr uint64_t kNextWithin = 100'000'000;
constexpr uint64_t kWithin = 2'000'000'000, kTriesWithin = 500'000'000, kTriesAgainWithin = 20'000'000, kStopsWithin = 50'000'000;
constexpr useconds_t kPause = 50;

bool is_event(int status, int event) { return status >> 16 == event; }
bool is_call(int status) { return status >> 16 == 0 && WSTOPSIG(status) == (SIGTRAP | 0x80); }
bool is_group_stop(int status) { return is_event(status, PTRACE_EVENT_STOP) && WSTOPSIG(status) != SIGTRAP; }

// Lets the signal of the debug register through, though the program may block it. The thread stands still.
class Unblocked {
 public:
  explicit Unblocked(pid_t tid) : tid_(tid) {
    is_blocked_ = read() && (mask_ & kBit) != 0;
    if (is_blocked_) set(mask_ & ~kBit);
  }
  ~Unblocked() {
    if (is_blocked_ && read()) set(mask_ | kBit);  // the program may have changed the rest
  }
  Unblocked(const Unblocked&) = delete;
  Unblocked& operator=(const Unblocked&) = delete;

 private:
  static constexpr uint64_t kBit = uint64_t{1} << (SIGURG - 1);

  bool read() { return ptrace(PTRACE_GETSIGMASK, tid_, sizeof mask_, &mask_) == 0; }
  void set(uint64_t mask) const { ptrace(PTRACE_SETSIGMASK, tid_, sizeof mask, &mask); }

  pid_t tid_;
  uint64_t mask_ = 0;
  bool is_blocked_ = false;
};

// A thread that dvm traces until it is let go.
class Execing {
 public:
  Execing(pid_t pid, pid_t tid) : pid_(pid), tid_(tid) {}
  ~Execing() { leave(); }
  Execing(const Execing&) = delete;
  Execing& operator=(const Execing&) = delete;

  bool seize(uint64_t within = kWithin) {
    constexpr long kOptions = PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD;
    is_traced_ = seize_thread(tid_, kOptions) && ptrace(PTRACE_INTERRUPT, tid_, 0, 0) == 0;
    return is_traced_ && next(within);
  }

  // To the exec of a program. Signal handlers may run before. Behind a try that has failed, another may follow, as along PATH.
  // False: it makes another call then, executes what may not be held, takes too long, or is gone.
  bool run_to_exec(uint64_t within = kTriesWithin) {
    if (executes()) return true;  // it did not wait for dvm
    const uint64_t deadline = read_clock(CLOCK_MONOTONIC) + within;
    while (go_on_to_call(deadline)) {
      if (executes()) return true;
      if (is_group_stop(status_) || (is_call(status_) && !is_wanted_call())) return false;
      if (!is_trying_ && read_clock(CLOCK_MONOTONIC) > deadline) return false;
    }
    return false;
  }
  // It stands at the end of the system call.
  bool executes() const { return is_event(status_, PTRACE_EVENT_EXEC); }
  // If run_to_exec() was false. The thread may have tried before it was traced, while dvm was slow, and do other things now.
  ExecHold result() const {
    if (!is_stopped_) return ExecHold::unknown;
    if (has_failed_) return ExecHold::none;
    return gains_rights_ || is_group_stop(status_) ? ExecHold::missed : ExecHold::unknown;
  }

  // A dynamic linker that was executed itself, until it has mapped the program. Nothing: it maps none, or is gone.
  std::optional<uint64_t> run_to_loaded() {
    const uint64_t deadline = read_clock(CLOCK_MONOTONIC) + kWithin;
    while (read_clock(CLOCK_MONOTONIC) < deadline && go_on(PTRACE_SYSCALL) && !is_group_stop(status_))
      if (const auto entry = loaded_entry(pid_)) return entry;
    return std::nullopt;
  }

  // To an address. False: it does not come there, or is gone.
  bool run_to(uint64_t address) {
    const Unblocked unblocked(tid_);
    const DebugRegister there = DebugRegister::set(tid_, address);
    while (there && go_on(PTRACE_CONT) && !is_group_stop(status_))
      if (takes_trap(address)) return true;
    return is_traced_ && stands() && takes_trap(address);  // its mask is set back while it stands still
  }

 private:
  // A signal that it is about to take.
  int signal() const { return status_ >> 16 == 0 && !is_call(status_) ? WSTOPSIG(status_) : 0; }

  // The signal of the debug register, which is not for the program.
  bool takes_trap(uint64_t address) {
    user_regs_struct registers{};
    if (signal() != SIGURG || ptrace(PTRACE_GETREGS, tid_, 0, &registers) != 0 || registers.rip != address) return false;
    status_ = 0;
    return true;
  }

  // It stands still, or does so when it is asked to.
  bool stands() { return is_stopped_ || (ptrace(PTRACE_INTERRUPT, tid_, 0, 0) == 0 && next(kStopsWithin)); }

  // By PTRACE_INTERRUPT. A system call that waited has been interrupted, perhaps one that the kernel does not make again.
  bool is_asked() const { return is_event(status_, PTRACE_EVENT_STOP) && !is_group_stop(status_); }

  bool go_on(__ptrace_request how, uint64_t within = kWithin) {
    if (signal() != 0 || is_asked()) make_call_again(tid_, signal());
    is_stopped_ = false;
    return ptrace(how, tid_, 0, signal()) == 0 && next(within);
  }

  // On a busy machine a thread may wait for a CPU between two tries for longer than it runs.
  bool go_on_to_call(uint64_t deadline) {
    const uint64_t began = run_time(tid_);
    const auto may_try = [&] {
      const bool runs_long = has_failed_ && run_time(tid_) - began > kTriesAgainWithin;
      return is_traced_ && !is_trying_ && !runs_long && read_clock(CLOCK_MONOTONIC) < deadline;
    };
    bool has_stopped = go_on(PTRACE_SYSCALL, is_trying_ ? kWithin : kTriesAgainWithin);
    while (!has_stopped && may_try()) has_stopped = next(kTriesAgainWithin);
    return has_stopped;
  }

  // The thread that executes a program takes over the number of the first one.
  bool next(uint64_t within = kWithin) {
    const uint64_t deadline = read_clock(CLOCK_MONOTONIC) + within;
    while (read_clock(CLOCK_MONOTONIC) < deadline) {
      pid_t found = look_at_thread(tid_, status_);
      if (found < 0 && errno == ECHILD && tid_ != pid_) found = look_at_thread(tid_ = pid_, status_);
      if (found < 0 && errno != EINTR) return is_traced_ = false;
      if (found == tid_) return is_stopped_ = is_traced_ = WIFSTOPPED(status_);
      usleep(kPause);
    }
    return false;
  }

  // One that executes a file which gives no rights, any before the first of these, and those of the stub before the next.
  bool is_wanted_call() {
    __ptrace_syscall_info info{};
    if (ptrace(PTRACE_GET_SYSCALL_INFO, tid_, sizeof info, &info) <= 0) return false;
    if (info.op != PTRACE_SYSCALL_INFO_ENTRY) {
      has_failed_ |= is_trying_;
      is_trying_ = false;
      return true;
    }
    const auto& call = info.entry;
    is_trying_ = call.nr == SYS_execve || call.nr == SYS_execveat;
    const bool has_folder = call.nr == SYS_execveat;
    if (is_trying_)
      gains_rights_ = gains_rights({pid_, tid_, has_folder ? static_cast<int>(call.args[0]) : AT_FDCWD, call.args[has_folder]});
    if (is_trying_) return !gains_rights_;
    constexpr std::array<uint64_t, 5> kBetweenTries = {SYS_getpid, SYS_gettid, SYS_ppoll, SYS_restart_syscall, SYS_rt_sigreturn};
    return !has_failed_ || std::find(kBetweenTries.begin(), kBetweenTries.end(), call.nr) != kBetweenTries.end();
  }

  void leave() {
    if (!is_traced_) return;
    if (!stands()) return release_later(tid_);
    if (is_asked() || is_call(status_) || signal() != 0)
      make_call_again(tid_, signal(), is_call(status_) ? StopAt::call_end : StopAt::signals);
    ptrace(PTRACE_DETACH, tid_, 0, signal());
  }

  pid_t pid_, tid_;
  int status_ = 0;
  bool is_traced_ = false, is_stopped_ = false;
  bool is_trying_ = false, has_failed_ = false;  // to execute a program
  bool gains_rights_ = false;                    // by that program
};

// While the thread is traced. Once it is not, it waits for dvm again before its next try.
class NamedThread {
 public:
  NamedThread(pid_t tid, const std::function<void(pid_t)>& tell) : tell_(tell) { tell_(tid); }
  ~NamedThread() { tell_(0); }
  NamedThread(const NamedThread&) = delete;
  NamedThread& operator=(const NamedThread&) = delete;

 private:
  const std::function<void(pid_t)>& tell_;
};

// The thread has just executed a program.
HeldExec hold_at_entry(pid_t pid, Execing& thread) {
  if (!is_64_bit_program(pid) || restricts_calls(pid)) return {};
  const std::optional<uint64_t> entry = runs_linker(pid) ? thread.run_to_loaded() : entry_point(pid);
  if (!entry || !thread.run_to(*entry)) return {};
  auto held = hold_inside(pid, pid);
  return held ? HeldExec{ExecHold::held, *std::move(held)} : HeldExec{};
}

HeldExec hold(pid_t pid, pid_t tid, const std::function<void(pid_t)>& tell, const std::function<bool()>& is_over) {
  if (status_field(tid, "Tgid:") != std::to_string(pid)) return tell(0), HeldExec{ExecHold::unknown, {}};
  Execing thread(pid, tid);
  const bool is_seized = thread.seize();
  const NamedThread named(tid, tell);
  if (!is_seized || (!thread.executes() && is_over())) return {ExecHold::unknown, {}};
  return thread.run_to_exec() ? hold_at_entry(pid, thread) : HeldExec{thread.result(), {}};
}

HeldExec hold_next(pid_t pid) {
  Execing thread(pid, pid);
  const bool executes = thread.seize(kStopsWithin) && thread.run_to_exec(kNextWithin);
  return executes ? hold_at_entry(pid, thread) : HeldExec{ExecHold::none, {}};
}

}  // namespace

HeldExec hold_exec(pid_t pid, pid_t tid, const std::function<void(pid_t)>& tell, const std::function<bool()>& is_over) {
  HeldExec held;
  work_unstopped(pid, [&] { held = hold(pid, tid, tell, is_over); });
  return held;
}

HeldExec hold_next_exec(pid_t pid) {
  HeldExec held;
  work_unstopped(pid, [&] { held = hold_next(pid); });
  return held;
}

}  // namespace dvm::runtime
