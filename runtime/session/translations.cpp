// Tested by tests/unit/runtime/engine_test.cpp.

#include "runtime/session/translations.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <span>
#include <utility>

#include "runtime/probe/prepare.h"

namespace dvm::runtime {
namespace {

const vm::Engine& llvm() { return vm::kEngines[1]; }

// Signals are for dvm's own thread.
template <class Function>
std::thread start_without_signals(Function function) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread thread(function);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

// The traced program and dvm come first. A short slice keeps the thread from holding a CPU that dvm wakes up on: where the kernel
// knows of none (before Linux 6.12), the nice value does.
void give_way() {
  struct {
    uint32_t size = sizeof(*this);
    uint32_t policy = SCHED_BATCH;
    uint64_t flags = 0;
    int32_t nice = 10;
    uint32_t priority = 0;
    uint64_t slice = 100'000;  // ns
    uint64_t deadline = 0, period = 0;
  } wanted;
  if (::syscall(SYS_sched_setattr, 0, &wanted, 0) != 0) setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), wanted.nice);
}

double own_cpu_time() { return static_cast<double>(read_clock(CLOCK_THREAD_CPUTIME_ID)); }

}  // namespace


}  // namespace dvm::runtime
