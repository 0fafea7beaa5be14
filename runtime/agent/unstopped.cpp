// Tested by tests/unit/instrument/unstopped_test.cpp.

#include "runtime/agent/unstopped.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define DVM_STACK_IS_CHECKED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define DVM_STACK_IS_CHECKED
#endif
#endif
#ifdef DVM_STACK_IS_CHECKED
#include <sanitizer/common_interface_defs.h>
#endif

#include <cerrno>
#include <fstream>
#include <string>

#include "runtime/process/thread_status.h"

namespace dvm::runtime {
namespace {

constexpr size_t kStackBytes = 8 << 20, kGuardBytes = 4096;

pid_t g_tracer = 0;  // while another process does the work

// Only pages that are used take memory.
char* stack() {
  static char* const begin = [] {
    void* const made = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made != MAP_FAILED) mprotect(made, kGuardBytes, PROT_NONE);
    return made == MAP_FAILED ? nullptr : static_cast<char*>(made);
  }();
  return begin;
}

bool may_only_ancestors_trace() {
  int scope = 0;
  std::ifstream("/proc/sys/kernel/yama/ptrace_scope") >> scope;
  return scope != 0 && geteuid() != 0;
}

// Tells the address sanitizer, if there is one, which stack the work uses. It would warn of one that it does not know.
class StackOfWork {
 public:
#ifdef DVM_STACK_IS_CHECKED
  StackOfWork() {
    __sanitizer_start_switch_fiber(&saved_, stack(), kStackBytes);
    __sanitizer_finish_switch_fiber(nullptr, &begin_, &bytes_);
  }
  ~StackOfWork() {
    __sanitizer_start_switch_fiber(nullptr, begin_, bytes_);
    __sanitizer_finish_switch_fiber(saved_, nullptr, nullptr);
  }
  StackOfWork(const StackOfWork&) = delete;
  StackOfWork& operator=(const StackOfWork&) = delete;

 private:
  void* saved_ = nullptr;
  const void* begin_ = nullptr;
  size_t bytes_ = 0;
#endif
};

// In a session of its own, which the keys of dvm's terminal do not reach.
int work_beside(void* work) {
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() == g_tracer) (*static_cast<const std::function<void()>*>(work))();
  return 0;
}

void wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, __WALL) < 0 && errno == EINTR) continue;
}

}  // namespace

pid_t tracer_pid() { return g_tracer != 0 ? g_tracer : getpid(); }

void work_unstopped(pid_t pid, const std::function<void()>& work) {
  const bool is_tracer = status_field(pid, "TracerPid:") == std::to_string(getpid());
  if (g_tracer != 0 || is_tracer || may_only_ancestors_trace() || stack() == nullptr) return work();
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  g_tracer = getpid();
  pid_t child = 0;
  {
    [[maybe_unused]] const StackOfWork of_work{};
    child = clone(work_beside, stack() + kStackBytes, CLONE_VM | CLONE_VFORK | CLONE_FILES | CLONE_FS,
                  const_cast<std::function<void()>*>(&work));
    if (child > 0) wait_for(child);
  }
  g_tracer = 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (child < 0) work();
}

}  // namespace dvm::runtime
