// Tested by tests/runtime/scenarios/test_agent.py.

#include "runtime/agent/stopped_process.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/clock.h"
#include "runtime/process/interrupted_call.h"
#include "runtime/process/reaped.h"
#include "runtime/process/seize.h"
#include "runtime/process/single_step.h"
#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

constexpr uint64_t kStopsWithin = 300'000'000;  // ns
constexpr uint64_t kRunsWithin = 3'000'000'000;
constexpr useconds_t kPause = 50, kLongestPause = 20'000;
constexpr char kUninterruptible = 'D';
constexpr std::string_view kContinueFirst = "a signal has stopped it; continue it first";
constexpr int64_t kRestartNoHandler = 514;  // an error of the kernel
constexpr uint64_t kPpoll = 271;
constexpr int kIsCall = 0x80;  // of a stop's signal, by PTRACE_O_TRACESYSGOOD

char state_of(pid_t pid, pid_t tid) {
  const std::string state = status_field(pid, tid, "State:");
  return state.empty() ? 'X' : state[0];
}

bool is_over(pid_t pid, pid_t tid) { return state_of(pid, tid) == 'Z' || state_of(pid, tid) == 'X'; }

std::map<pid_t, Straggler>& stragglers() {
  static std::map<pid_t, Straggler> waiting;
  return waiting;
}

enum class Came : uint8_t { nothing, interrupted, group_stop, signal, call, end };

Came as_coming(int status) {
  if (!WIFSTOPPED(status)) return Came::end;
  const int event = status >> 16;
  if (event == 0) return (WSTOPSIG(status) & kIsCall) != 0 ? Came::call : Came::signal;
  return event == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP ? Came::group_stop : Came::interrupted;
}

// The next stop of a thread. Signals that it is about to take are handed on.
Came wait_for(pid_t tid, uint64_t deadline) {
  for (;;) {
    int status = 0;
    const pid_t found = look_at_thread(tid, status);
    if (found < 0 && errno != EINTR) return Came::end;
    if (found == tid) {
      const Came came = as_coming(status);
      if (came != Came::signal) return came;
      make_call_again(tid, WSTOPSIG(status));
      ptrace(PTRACE_CONT, tid, 0, WSTOPSIG(status));
      continue;
    }
    if (read_clock(CLOCK_MONOTONIC) > deadline) return Came::nothing;
    usleep(kPause);
  }
}

// The same, by what waitid() says of a thread that has stopped.
bool is_group_stop(const siginfo_t& info) {
  return info.si_code == CLD_TRAPPED && info.si_status >> 8 == PTRACE_EVENT_STOP && (info.si_status & 0x7f) != SIGTRAP;
}

// The stop in which a traced thread stands, or its end, which nobody has waited for yet. It stays so. Nothing: it has none.
// Without a number: the thread is gone.
std::optional<siginfo_t> unseen_stop(pid_t tid) {
  siginfo_t info{};
  const int failed = waitid(P_PID, static_cast<id_t>(tid), &info, WSTOPPED | WEXITED | WNOHANG | WNOWAIT | __WALL);
  if (failed != 0 && errno != EINTR) return siginfo_t{};
  return failed == 0 && info.si_pid == tid ? std::optional(info) : std::nullopt;
}

uint64_t from_now(uint64_t ns) { return read_clock(CLOCK_MONOTONIC) + ns; }

// In ppoll, the only call that does not end by itself.
bool is_waiting(const user_regs_struct& registers) {
  const auto result = -static_cast<int64_t>(registers.rax);
  return registers.orig_rax == kPpoll && (result == kRestartNoHandler || result == EINTR);
}

user_regs_struct behind_wait(user_regs_struct registers) {
  registers.rax = 0, registers.orig_rax = UINT64_MAX;
  return registers;
}

// The signal that a straggler takes. Nothing: it goes on first, to the SIGTRAP of its step.
std::optional<int> signal_of(pid_t tid, Straggler kind, int signal) {
  if (kind != Straggler::runs && is_of_breakpoint(tid, signal)) signal = 0;
  if (kind != Straggler::steps) return signal;
  const SingleStep step = single_step_at(tid, signal);
  if (step == SingleStep::queued) return std::nullopt;
  if (step == SingleStep::done) return SIGURG;
  syscall(SYS_tkill, tid, SIGURG);
  return signal;
}

// A signal that a straggler was about to take is not lost, and its call does not end. False: it stops once more.
bool is_let_go(pid_t tid, Straggler kind, int status) {
  if (!WIFSTOPPED(status)) return true;
  const Came came = as_coming(status);
  if (status >> 16 == PTRACE_EVENT_CLONE) release_started(tid);
  const auto signal = signal_of(tid, kind, came == Came::signal ? WSTOPSIG(status) : 0);
  if (!signal) return ptrace(PTRACE_CONT, tid, 0, 0) != 0;
  if (came == Came::interrupted) make_call_again(tid);
  if (came == Came::call) make_call_again(tid, 0, StopAt::call_end);
  ptrace(PTRACE_DETACH, tid, 0, *signal);
  return true;
}

bool is_released(const std::pair<const pid_t, Straggler>& one) {
  int status = 0;
  const pid_t found = look_at_thread(one.first, status);
  if (found == 0) return false;
  return found != one.first || is_let_go(one.first, one.second, status);
}

}  // namespace

Result<StoppedProcess> StoppedProcess::stop(pid_t pid, bool joins) {
  StoppedProcess stopped(pid, joins);
  if (Status held = stopped.hold_all(); !held) return held.error();
  return stopped;
}

StoppedProcess::StoppedProcess(StoppedProcess&& other) noexcept
    : pid_(other.pid_), joins_(other.joins_), has_joined_(other.has_joined_), threads_(std::exchange(other.threads_, {})) {}

StoppedProcess::~StoppedProcess() {
  for (const HeldThread& thread : threads_) let_go(thread);
}

void StoppedProcess::let_go(const HeldThread& thread) const {
  if (thread.was_held || thread.is_lent) return;
  if (thread.blocked && only_call_blocks_signals(pid_, thread.tid, *thread.blocked)) {
    const user_regs_struct before_call = resumed(thread.registers);
    ptrace(PTRACE_SETREGS, thread.tid, 0, &before_call);
  }
  if (ptrace(PTRACE_DETACH, thread.tid, 0, 0) != 0) release_later(thread.tid);
}

void StoppedProcess::prefer_waiting() {
  const auto waiting = std::find_if(threads_.begin(), threads_.end(),
                                    [](const HeldThread& one) { return static_cast<int64_t>(one.registers.orig_rax) >= 0; });
  if (waiting != threads_.end()) std::swap(threads_.front(), *waiting);
}

void StoppedProcess::let_go_but_one() {
  prefer_waiting();
  for (size_t i = 1; i < threads_.size(); i++) let_go(threads_[i]);
  threads_.resize(std::min<size_t>(threads_.size(), 1));
}

void release_later(pid_t tid, Straggler kind) { stragglers()[tid] = kind; }

void release_stragglers() {
  std::map<pid_t, Straggler> waiting = std::exchange(stragglers(), {});
  std::erase_if(waiting, is_released);
  stragglers().merge(waiting);
}

void release_at(pid_t tid, int status) {
  const auto found = stragglers().find(tid);
  const Straggler kind = found == stragglers().end() ? Straggler::has_breakpoints : found->second;
  if (is_let_go(tid, kind, status)) stragglers().erase(tid);
}

void release_started(pid_t tid) {
  unsigned long started = 0;
  if (ptrace(PTRACE_GETEVENTMSG, tid, 0, &started) == 0) release_later(static_cast<pid_t>(started), Straggler::has_breakpoints);
}

// Until no thread is new: one that stands still makes none. All are asked to stop before any is waited for, so that the first one
// of many does not wait for each of the others. Each is waited for, also where one cannot be stopped: its call is to be repaired.
Status StoppedProcess::hold_all() {
  Status problem;
  for (bool any = true; any && problem;) {
    const size_t known = threads_.size();
    problem = ask_all();
    any = threads_.size() != known;
    const uint64_t deadline = from_now(kStopsWithin);
    for (size_t i = known; i < threads_.size();) {
      const auto stands = await(threads_[i], deadline);
      if (!stands && problem) problem = stands.error();
      !stands || *stands ? void(i++) : void(threads_.erase(threads_.begin() + static_cast<ptrdiff_t>(i)));
    }
  }
  if (problem && threads_.empty()) return Error{"it has ended"};
  return problem;
}

Status StoppedProcess::ask_all() {
  for (const pid_t tid : threads_of(pid_)) {
    if (std::any_of(threads_.begin(), threads_.end(), [&](const HeldThread& one) { return one.tid == tid; })) continue;
    if (Status asked = ask(tid); !asked) return asked;
  }
  return {};
}

Error StoppedProcess::refusal(std::string_view why) const { return Error{fmt::format("cannot stop process {}: {}", pid_, why)}; }

// One that is over is left out.
Status StoppedProcess::ask(pid_t tid) {
  HeldThread thread{.tid = tid};
  if (!seize_thread(tid, 0)) {
    if (errno == EINTR || errno == EAGAIN) return refusal(seize_problem(tid, errno));
    if (errno == ESRCH || is_over(pid_, tid)) return {};
    const bool is_stopped = ptrace(PTRACE_GETREGS, tid, 0, &thread.registers) == 0;
    const auto stop = is_stopped ? unseen_stop(tid) : std::nullopt;
    const bool is_at_breakpoint = stop && stop->si_pid == tid;
    thread.was_held = is_stopped && !is_at_breakpoint;  // a program that dvm has started
    thread.is_lent = is_at_breakpoint || (!is_stopped && ptrace(PTRACE_INTERRUPT, tid, 0, 0) == 0);
    if (!thread.was_held && !thread.is_lent) return refusal(hold_problem(tid));
  }
  threads_.push_back(thread);
  if (!thread.was_held && !thread.is_lent) ptrace(PTRACE_INTERRUPT, tid, 0, 0);
  return {};
}

// Whatever stops it, which nobody handles as long as this process is held. False: it has ended.
Result<bool> StoppedProcess::await_lent(HeldThread& thread, uint64_t deadline) {
  for (;; usleep(kPause)) {
    if (const auto stop = unseen_stop(thread.tid)) {
      if (stop->si_pid == 0) return false;
      if (is_group_stop(*stop) && !joins_) return refusal(kContinueFirst);
      has_joined_ |= is_group_stop(*stop);
      return read_registers(thread);
    }
    if (read_clock(CLOCK_MONOTONIC) > deadline) return refusal(fmt::format("its thread {} does not stop", thread.tid));
  }
}

// False: it has ended.
Result<bool> StoppedProcess::await(HeldThread& thread, uint64_t deadline) {
  if (thread.was_held) return true;
  if (thread.is_lent) return await_lent(thread, deadline + kRunsWithin);
  Came came = wait_for(thread.tid, deadline);
  if (came == Came::nothing && state_of(pid_, thread.tid) != kUninterruptible)
    came = wait_for(thread.tid, deadline + kRunsWithin);
  if (came == Came::end) return false;
  if (came == Came::nothing)
    return refusal(fmt::format("its thread {} does not stop; it may wait for a child that it made by vfork", thread.tid));
  if (came == Came::group_stop && !joins_) return refusal(kContinueFirst);
  if (came != Came::group_stop) return read_registers(thread) && repair(thread);
  has_joined_ = true;
  return read_registers(thread);  // a call that ended was ended by the signal
}

bool StoppedProcess::read_registers(HeldThread& thread) { return ptrace(PTRACE_GETREGS, thread.tid, 0, &thread.registers) == 0; }

// A system call that the stop has ended, rather than a signal, is made again. False: the thread is gone.
bool StoppedProcess::repair(HeldThread& thread) {
  if (!is_ended_by_stop(pid_, thread.tid, thread.registers)) return true;
  return set_registers(thread, made_again(thread.registers));
}

bool StoppedProcess::set_registers(HeldThread& thread, const user_regs_struct& registers) {
  if (ptrace(PTRACE_SETREGS, thread.tid, 0, &registers) != 0) return false;
  thread.registers = registers;
  return true;
}

// Killed between the two calls, dvm leaves a thread that sets its mask once more.
bool StoppedProcess::set_back(HeldThread& thread, const RemoteRun& run) {
  return ptrace(PTRACE_SETSIGMASK, thread.tid, sizeof run.mask, &run.mask) == 0 && set_registers(thread, run.back);
}

// No handler of the program may run before the code has blocked signals by itself: it would leave the code half done. Killed
// between the two calls, dvm leaves a thread that sets its mask at the end of the code.
bool StoppedProcess::lead_in(HeldThread& thread, const RemoteRun& run) {
  constexpr uint64_t kAll = UINT64_MAX;
  if (thread.is_lent) return false;  // its stop may be that of a signal or a breakpoint
  if (!thread.blocked) thread.blocked = blocked_signals(pid_, thread.tid);
  return set_registers(thread, run.begin) && ptrace(PTRACE_SETSIGMASK, thread.tid, sizeof kAll, &kAll) == 0;
}

void StoppedProcess::end_waits(std::span<const AddressRange> code) {
  for (HeldThread& one : threads_) {
    const auto has_it = [&](const AddressRange& its) { return its.begin <= one.registers.rip && one.registers.rip < its.end; };
    if (is_waiting(one.registers) && std::any_of(code.begin(), code.end(), has_it))
      set_registers(one, behind_wait(one.registers));
  }
}

bool StoppedProcess::run_through(const RemoteRun& run, const std::function<bool()>& at_wait) {
  if (!lead_in(threads_.front(), run)) return false;
  const uint64_t deadline = from_now(kRunsWithin);
  useconds_t pause = kPause;
  while (read_clock(CLOCK_MONOTONIC) < deadline) {
    HeldThread& thread = threads_.front();
    const uint64_t began_at = thread.registers.rip;
    ptrace(PTRACE_CONT, thread.tid, 0, 0);
    usleep(pause);
    ptrace(PTRACE_INTERRUPT, thread.tid, 0, 0);
    if (wait_for(thread.tid, deadline) != Came::interrupted || !read_registers(thread)) return false;
    // One that waits for a CPU would be interrupted each time before it runs.
    const bool has_run = thread.registers.rip != began_at;
    pause = has_run ? kPause : std::min(2 * pause, kLongestPause);
    if (thread.registers.rip < run.code.begin || thread.registers.rip >= run.code.end) return repair(thread);
    if (!is_waiting(thread.registers)) continue;
    if (thread.registers.rip == run.last_wait) return set_back(thread, run);
    const bool goes_on = at_wait();  // the list of threads may be another one now
    if (!goes_on) return set_back(threads_.front(), run) && false;
    if (!set_registers(threads_.front(), behind_wait(threads_.front().registers))) return false;
  }
  return false;
}

}  // namespace dvm::runtime
