// The helper process of a shielded call. Covered by tests/runtime/scenarios/test_killed.py.
#include "runtime/instrument/uprobe/shield.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace dvm::runtime {
namespace {

constexpr size_t kStackBytes = 256 * 1024;

struct HelperCall {
  void (*work)(void*);
  void* argument;
};

// A session and a name of its own: what is sent to dvm's process group or by its name is not for the helper.
int run_call(void* it) {
  const auto* call = static_cast<const HelperCall*>(it);
  setsid();
  prctl(PR_SET_NAME, "uprobe-helper");
  call->work(call->argument);
  return 0;
}

bool run_in_helper(HelperCall& call) {
  void* stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) return false;
  // The calling thread waits in clone() until the helper has exited.
  const pid_t helper = clone(run_call, static_cast<std::byte*>(stack) + kStackBytes, CLONE_VM | CLONE_VFORK | CLONE_FILES, &call);
  if (helper > 0)
    while (waitpid(helper, nullptr, __WALL) < 0 && errno == EINTR) {
    }
  munmap(stack, kStackBytes);
  return helper > 0;
}

}  // namespace

void run_shielded(void (*work)(void*), void* argument) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // the helper inherits it
  HelperCall call{work, argument};
  if (!run_in_helper(call)) work(argument);  // no process is to be had: unshielded it works too
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

}  // namespace dvm::runtime
