// Tested by tests/runtime/scenarios/test_agent.py.

#include "runtime/agent/guard.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "runtime/agent/abandon.h"
#include "runtime/agent/detach.h"
#include "runtime/agent/fork_guard.h"
#include "runtime/agent/inside/restoring.h"
#include "runtime/agent/memory.h"
#include "runtime/agent/stopped_process.h"
#include "runtime/agent/unstopped.h"

namespace dvm::runtime {
namespace {

constexpr unsigned kAttempts = 200;
constexpr useconds_t kPause = 50'000;

// False: dvm is gone without a word. The end of the process counts unless others are taken care of.
bool waits_for_dismissal(int dismissal, int traced, bool follows) {
  pollfd waits[] = {{dismissal, POLLIN, 0}, {traced, POLLIN, 0}};
  while (poll(waits, follows ? 1 : 2, -1) < 0 && errno == EINTR) {
  }
  char byte = 0;
  return waits[1].revents != 0 || read(dismissal, &byte, 1) == 1;
}

// Threads may wait until the code is restored.
void say_at_work(pid_t pid, const AgentMemory& memory, pid_t tracer) {
  for (const FoundAgent& one : find_agents(pid, memory))
    if (is_of_tracer(one, tracer) && one.header.armed != 0)
      memory.write_object(inside::restoring_at(one.header.armed), uint64_t{__builtin_ia32_rdtsc()});
}

// A process may not let itself be stopped for a while.
void restore(pid_t pid, pid_t tracer, int traced) {
  const auto memory = AgentMemory::open(pid);
  if (!memory) return;
  for (unsigned i = 0; i < kAttempts; i++) {
    say_at_work(pid, *memory, tracer);
    if (detach_agents(pid, *memory, WhichAgents::of_this_tracer, tracer)) return abandon_lanes(pid, *memory, tracer);
    release_stragglers();
    pollfd end{traced, POLLIN, 0};
    if (poll(&end, 1, 0) > 0) return;
    usleep(kPause);
  }
}

[[noreturn]] void guard(pid_t pid, pid_t tracer, int dismissal, int traced, bool follows) {
  if (!waits_for_dismissal(dismissal, traced, follows)) {
    restore(pid, tracer, traced);
    if (follows) detach_forked(tracer), abandon_all_lanes(tracer);
  }
  _exit(0);
}

}  // namespace

Result<AgentGuard> AgentGuard::start(pid_t pid, bool follows) {
  const pid_t tracer = tracer_pid();
  tracer_began(tracer);  // the guard will ask
  const FileDescriptor traced(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
  if (!traced) return no_guard(pid, errno);
  auto dvms = fork_guard(pid, traced.get(), [&](int dismissal) { guard(pid, tracer, dismissal, traced.get(), follows); });
  if (!dvms) return dvms.error();
  return AgentGuard(*std::move(dvms));
}

void AgentGuard::hand_over() { dismissal_ = FileDescriptor(); }

AgentGuard::~AgentGuard() {
  if (dismissal_) send(dismissal_.get(), "x", 1, MSG_NOSIGNAL);  // the guard may have ended
}

}  // namespace dvm::runtime
