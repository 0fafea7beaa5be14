// Tested by tests/unit/instrument/seize_test.cpp.

#include "runtime/process/seize.h"

#include <signal.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <mutex>

#include "common/clock.h"
#include "runtime/process/reaped.h"
#include "runtime/process/thread_status.h"

// The kernel makes an interrupted PTRACE_SEIZE again behind any signal handler. So the handler has to know its instruction.
asm(R"(
  .pushsection .text
  .globl dvm_seize, dvm_seize_call, dvm_seize_end
  .hidden dvm_seize, dvm_seize_call, dvm_seize_end
  .type dvm_seize, @function
dvm_seize:
  movq %rsi, %r10
  movl %edi, %esi
  movl $0x4206, %edi
  xorl %edx, %edx
  movl $101, %eax
dvm_seize_call:
  syscall
dvm_seize_end:
  ret
  .size dvm_seize, . - dvm_seize
  .popsection
)");
extern "C" {
long dvm_seize(pid_t tid, long options);
extern const char dvm_seize_call[], dvm_seize_end[];
}

namespace dvm::runtime {
namespace {

constexpr uint64_t kWithin = 500'000'000;  // ns
constexpr long kEvery = 20'000'000;

void end_seizing(int, siginfo_t*, void* context) {
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  if (registers[REG_RIP] != reinterpret_cast<greg_t>(dvm_seize_call)) return;
  registers[REG_RIP] = reinterpret_cast<greg_t>(dvm_seize_end);
  registers[REG_RAX] = -EINTR;
}

// Interrupts dvm_seize() of this thread again and again. The handler is the whole process's, so one thread at a time has it.
class SeizeAlarm {
 public:
  SeizeAlarm() : only_(mutex_) {
    struct sigaction action {};
    action.sa_sigaction = end_seizing;
    action.sa_flags = SA_SIGINFO | SA_RESTART;
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID, event.sigev_signo = kSignal, event._sigev_un._tid = gettid();
    if (timer_create(CLOCK_MONOTONIC, &event, &timer_) != 0) return;
    is_set_ = true;
    sigaction(kSignal, &action, &handler_before_);
    unblock(mask_before_);
    const itimerspec often = {{0, kEvery}, {0, kEvery}};
    timer_settime(timer_, 0, &often, nullptr);
  }
  // What the timer has sent by then has been handled.
  ~SeizeAlarm() {
    if (!is_set_) return;
    timer_delete(timer_);
    pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
    sigaction(kSignal, &handler_before_, nullptr);
  }
  SeizeAlarm(const SeizeAlarm&) = delete;
  SeizeAlarm& operator=(const SeizeAlarm&) = delete;

  explicit operator bool() const { return is_set_; }

 private:
  static inline const int kSignal = SIGRTMAX - 1;
  static inline std::mutex mutex_;

  static void unblock(sigset_t& before) {
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, kSignal);
    pthread_sigmask(SIG_UNBLOCK, &only, &before);
  }

  const std::lock_guard<std::mutex> only_;
  timer_t timer_ = {};
  sigset_t mask_before_ = {};
  struct sigaction handler_before_ {};
  bool is_set_ = false;
};

// Only those that dvm traces.
void wait_for_dead_threads(pid_t pid) {
  for (const pid_t tid : threads_of(pid))
    if (int status = 0; tid != pid && status_field(pid, tid, "State:").starts_with('Z')) look_at_thread(tid, status);
}

}  // namespace

bool seize_thread(pid_t tid, long options) {
  const uint64_t deadline = read_clock(CLOCK_MONOTONIC) + kWithin;
  long failed = 0;
  do {
    {
      const SeizeAlarm alarm;
      failed = alarm ? dvm_seize(tid, options) : -EAGAIN;
    }
    if (failed == -EINTR) wait_for_dead_threads(std::atoi(status_field(tid, "Tgid:").c_str()));
  } while (failed == -EINTR && read_clock(CLOCK_MONOTONIC) < deadline);
  errno = static_cast<int>(-failed);
  return failed == 0;
}

std::string seize_problem(pid_t tid, int error) {
  if (error == EINTR) return "it is executing another program";
  if (error == EAGAIN) return "the user has too many pending signals for another timer (ulimit -i)";
  return hold_problem(tid);
}

}  // namespace dvm::runtime
