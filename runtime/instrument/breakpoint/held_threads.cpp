// ptrace(2) and waitid(2). Covered by
// tests/runtime/scenarios/test_unprivileged.py.
#include "runtime/instrument/breakpoint/held_threads.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "common/clock.h"
#include "runtime/agent/stopped_process.h"
#include "runtime/process/interrupted_call.h"
#include "runtime/process/seize.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

constexpr long kOptions = PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACESYSGOOD;
constexpr int kIsCall = 0x80;                     // of a stop's signal, by that option
constexpr uint64_t kStopsWithin = 2'000'000'000;  // ns

ThreadStop as_stop(const siginfo_t& info) {
  ThreadStop stop;
  stop.tid = info.si_pid;
  stop.is_end = info.si_code == CLD_EXITED || info.si_code == CLD_KILLED || info.si_code == CLD_DUMPED;
  if (stop.is_end) return stop;
  stop.signal = info.si_status & 0x7f;
  stop.is_call = (info.si_status & kIsCall) != 0;
  stop.event = info.si_status >> 8;
  return stop;
}

std::optional<ThreadStop> wait_for(idtype_t whom, pid_t tid, int what) {
  siginfo_t info{};
  if (waitid(whom, static_cast<id_t>(tid), &info, what | WNOHANG | __WALL) != 0 || info.si_pid == 0) return std::nullopt;
  return as_stop(info);
}

// Stopped by its tracer and seen so, as what is yet to be resumed; or dead.
bool comes_to_no_stop(pid_t tid) {
  const std::string state = status_field(tid, "State:");
  return state.empty() || std::string_view("tZX").find(state[0]) != std::string_view::npos;
}

// The stop that interrupt_thread() has requested, or the first one of a thread.
bool is_interrupt(const ThreadStop& stop) { return stop.event == PTRACE_EVENT_STOP && stop.signal == SIGTRAP; }

// True if the thread waits in a call that would return the size of the part it has moved.
bool may_be_cut(pid_t tid) {
  constexpr long kCalls[] = {SYS_write,        SYS_writev,        SYS_pwrite64,        SYS_pwritev,  SYS_pwritev2,
                             SYS_sendto,       SYS_sendmsg,       SYS_sendmmsg,        SYS_recvfrom, SYS_recvmsg,
                             SYS_recvmmsg,     SYS_sendfile,      SYS_splice,          SYS_vmsplice, SYS_tee,
                             SYS_io_getevents, SYS_io_pgetevents, SYS_copy_file_range, SYS_preadv2,  SYS_io_uring_enter};
  if (!status_field(tid, "State:").starts_with('S')) return false;
  long call = -1;
  std::ifstream(fmt::format("/proc/{}/syscall", tid)) >> call;
  return std::find(std::begin(kCalls), std::end(kCalls), call) != std::end(kCalls);
}

// The request to stop is still pending there, and would end the call.
bool is_before_call(const ThreadStop& stop) {
  __ptrace_syscall_info info{};
  return stop.is_call && ptrace(PTRACE_GET_SYSCALL_INFO, stop.tid, sizeof info, &info) > 0 &&
         info.op == PTRACE_SYSCALL_INFO_ENTRY;
}

void detach_at(const ThreadStop& stop, int signal) {
  if (signal != 0 || stop.is_call || is_interrupt(stop))
    make_call_again(stop.tid, signal, stop.is_call ? StopAt::call_end : StopAt::signals);
  ptrace(PTRACE_DETACH, stop.tid, 0, signal);
}

int g_wake = -1;

void on_child(int) {
  const int error_number = errno;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(g_wake, &one, sizeof one);
  errno = error_number;
}

}  // namespace

pid_t process_of_thread(pid_t tid) { return std::atoi(status_field(tid, "Tgid:").c_str()); }

Result<bool> hold_thread(pid_t tid) {
  if (seize_thread(tid, kOptions) || errno == ESRCH) return false;
  if (errno == EINTR || errno == EAGAIN) return Error{seize_problem(tid, errno)};
  if (ptrace(PTRACE_SETOPTIONS, tid, 0, kOptions) == 0) return true;
  const std::string state = status_field(tid, "State:");
  if (state.empty() || state[0] == 'Z' || state[0] == 'X') return false;          // it ends just now
  if (status_field(tid, "TracerPid:") == std::to_string(gettid())) return false;  // a new one, before its first stop
  return Error{hold_problem(tid)};
}

void interrupt_thread(pid_t tid) { ptrace(PTRACE_INTERRUPT, tid, 0, 0); }

std::optional<ThreadStop> next_stop(const std::function<std::vector<pid_t>()>& mine) {
  if (auto stop = wait_for(P_ALL, 0, WSTOPPED)) return stop;
  const auto ended = wait_for(P_ALL, 0, WEXITED | WNOWAIT);
  if (!ended) return std::nullopt;
  std::vector<pid_t> tids = mine();
  tids.push_back(ended->tid);  // a new thread that was killed before its first stop is not among them
  for (const pid_t tid : tids)
    if (!is_own_child(tid) || process_of_thread(tid) != tid)  // the end of dvm's child is Process's to hear of
      if (auto stop = wait_for(P_PID, tid, WEXITED)) return stop;
  return std::nullopt;
}

void go_on(const ThreadStop& stop, int signal, Pace pace) {
  if (signal != 0 || is_interrupt(stop)) make_call_again(stop.tid, signal);
  const bool is_group_stop = stop.event == PTRACE_EVENT_STOP && stop.signal != SIGTRAP;
  if (is_group_stop)
    ptrace(PTRACE_LISTEN, stop.tid, 0, 0);
  else
    ptrace(pace == Pace::calls ? PTRACE_SYSCALL : PTRACE_CONT, stop.tid, 0, signal);
}

void step(pid_t tid) { ptrace(PTRACE_SINGLESTEP, tid, 0, 0); }

void let_go(pid_t tid, const HowHeld& how, const KeepStop& keep) {
  const Straggler kind = how.steps ? Straggler::steps : Straggler::has_breakpoints;
  if (how.may_stay && how.pace == Pace::run && may_be_cut(tid)) return release_later(tid, kind);
  if (ptrace(PTRACE_INTERRUPT, tid, 0, 0) != 0) return;
  const uint64_t deadline = read_clock(CLOCK_MONOTONIC) + kStopsWithin;
  while (read_clock(CLOCK_MONOTONIC) < deadline) {
    const bool is_last = comes_to_no_stop(tid);
    if (const auto stop = wait_for(P_PID, tid, WSTOPPED)) {
      const auto signal = keep(*stop);
      if (signal && !is_before_call(*stop)) return detach_at(*stop, *signal);
      ptrace(PTRACE_CONT, tid, 0, 0);  // also in a group stop, which it enters again when it is let go
    } else if (is_last) {
      return;
    }
    usleep(100);
  }
  release_later(tid, kind);
}

void release(const ThreadStop& stop) {
  constexpr int kStopped = 0x7f;
  release_at(stop.tid, stop.event << 16 | (stop.signal | (stop.is_call ? kIsCall : 0)) << 8 | kStopped);
}

StopSignal::StopSignal() : event_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  g_wake = event_.get();
  struct sigaction action {};
  action.sa_handler = on_child;
  action.sa_flags = SA_RESTART;
  sigaction(SIGCHLD, &action, nullptr);
}

StopSignal::~StopSignal() { signal(SIGCHLD, SIG_DFL); }

void StopSignal::clear() {
  uint64_t count = 0;
  [[maybe_unused]] const ssize_t size = read(event_.get(), &count, sizeof count);
}

}  // namespace dvm::runtime
