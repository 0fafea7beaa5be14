#pragma once
// All threads of a process, stopped by ptrace for some milliseconds.
//
// A stop must not change what the program does. Some system calls (epoll_wait, sigtimedwait, semop ...) return EINTR after a stop
// although no signal has come; such a call is made again. When dvm dies, the kernel lets all threads go on.

#include <sys/types.h>
#include <sys/user.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"
#include "runtime/symbol/maps.h"

namespace dvm::runtime {

struct HeldThread {
  pid_t tid = 0;
  user_regs_struct registers{};
  bool was_held = false;  // dvm traced it before, and it stood still
  // dvm traced it before, and it ran or stands at a breakpoint: the stop stays for the code that traces it.
  bool is_lent = false;
  // The signals that it blocked before it was led through code. A call may have a mask of its own, which that has ended.
  std::optional<uint64_t> blocked{};
};

// A way through code that a process was given (remote_calls.h).
struct RemoteRun {
  user_regs_struct begin{}, back{};  // back: as they were, with which the kernel restarts a system call
  uint64_t mask = 0;                 // of signals, that belongs to `back`
  AddressRange code;
  uint64_t last_wait = 0;
};

class StoppedProcess {
 public:
  // Fails if a thread cannot be stopped: another tracer, missing permission, a thread that the kernel does not interrupt (it
  // waits for a child of vfork). Nothing is changed then.
  static Result<StoppedProcess> stop(pid_t pid) { return stop(pid, false); }
  // The same, also of one that a signal has stopped, which stays so: its code can be changed, and no thread be led elsewhere.
  static Result<StoppedProcess> stop_or_join(pid_t pid) { return stop(pid, true); }
  StoppedProcess(StoppedProcess&& other) noexcept;
  StoppedProcess& operator=(StoppedProcess&&) = delete;
  // Lets all threads go on.
  ~StoppedProcess();

  pid_t pid() const { return pid_; }
  // A signal has stopped it.
  bool has_joined() const { return has_joined_; }
  std::vector<HeldThread>& threads() { return threads_; }
  const std::vector<HeldThread>& threads() const { return threads_; }
  // The first thread is one that waits in a system call, if any does.
  void prefer_waiting();
  // Threads that wait in such code, of a dvm that was killed, go on behind the wait. Each stop would prolong it.
  void end_waits(std::span<const AddressRange> code);
  // Lets all threads go on but one, which waits in a system call if any does.
  void let_go_but_one();
  // Stops all others again. With an error some may run.
  Status hold_all();
  // Leads the first thread through the code. Where it waits, at_wait() says whether it is led on, and may call hold_all(). If
  // not, and where it waits last, its registers and mask are set back. False: it did not wait last in time, or is gone.
  bool run_through(const RemoteRun& run, const std::function<bool()>& at_wait);
  bool set_registers(HeldThread& thread, const user_regs_struct& registers);

 private:
  StoppedProcess(pid_t pid, bool joins) : pid_(pid), joins_(joins) {}
  static Result<StoppedProcess> stop(pid_t pid, bool joins);
  void let_go(const HeldThread& thread) const;
  Status ask_all();
  Status ask(pid_t tid);
  Result<bool> await(HeldThread& thread, uint64_t deadline);
  Result<bool> await_lent(HeldThread& thread, uint64_t deadline);
  Error refusal(std::string_view why) const;
  static bool read_registers(HeldThread& thread);
  bool repair(HeldThread& thread);
  bool lead_in(HeldThread& thread, const RemoteRun& run);
  bool set_back(HeldThread& thread, const RemoteRun& run);
  pid_t pid_;
  bool joins_;  // the stop of a signal
  bool has_joined_ = false;
  std::vector<HeldThread> threads_;
};

// Threads that did not stop in time come to their stop later, and are let go then: to be called now and then while dvm lives.
void release_stragglers();
enum class Straggler : uint8_t {
  runs,
  has_breakpoints,
  steps  // executes a single step, has breakpoints, and gets a SIGURG behind the step
};
// Releases a thread that has been asked to stop, once it stops.
void release_later(pid_t tid, Straggler kind = Straggler::runs);
// A thread that stands in the stop that waitpid() has told, which may be a straggler.
void release_at(pid_t tid, int status);
// The thread that this one, which stands at PTRACE_EVENT_CLONE, has started. It is traced, too.
void release_started(pid_t tid);

}  // namespace dvm::runtime
