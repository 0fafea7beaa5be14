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

void Translations::take_up() {
  if (config_.options[dif::Option::engine] != 0) return;
  if (has_made_.load(std::memory_order_acquire)) take_made();
  ask_for_costly();
}

void Translations::take_made() {
  std::vector<Made> made;
  {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock) return;
    made.swap(made_);
    price_ = measured_;
    has_made_ = false;
  }
  add_up_runs();
  for (Made& each : made) {
    note_firings(*each.plan);
    const EcbCode& code = enabling_.replace_code(each.plan->clause, std::move(each.code));
    for (const auto& backend : backends_)
      if (RunsCode* runs = backend->runs_code()) runs->take_up(code);
  }
}

void Translations::note_firings(const EcbPlan& plan) {
  interpreted_.resize(runs_.size());
  for (size_t i = 0; i < runs_.size(); i++)
    if (enabling_.ecbs()[i].plan == &plan) interpreted_[i] = runs_[i].firings;
}

void Translations::add_up_runs() {
  runs_.assign(enabling_.ecbs().size(), {});
  for (const auto& backend : backends_) {
    const RunsCode* const code = backend->runs_code();
    const std::span<const EcbRuns> its = code ? code->runs() : std::span<const EcbRuns>();
    for (size_t i = 0; i < std::min(runs_.size(), its.size()); i++) runs_[i] += its[i];
  }
}


}  // namespace dvm::runtime
