// Tested by tests/runtime/scenarios/test_agent.py.

#include "runtime/agent/guard.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <utility>

#include "runtime/agent/abandon.h"
#include "runtime/agent/detach.h"
#include "runtime/agent/memory.h"
#include "runtime/agent/stopped_process.h"
#include "runtime/agent/unstopped.h"

namespace dvm::runtime {
namespace {

constexpr unsigned kAttempts = 200;
constexpr useconds_t kPause = 50'000;

void close_between(int first, int last) {
  if (first <= last) syscall(SYS_close_range, first, last, 0);
}

// All but two descriptors are closed: a pipe that dvm's output went to must see its end. The two stay where they are, since no
// other number may be free below the limit.
void close_others(int a, int b) {
  const auto [low, high] = std::minmax(a, b);
  close_between(0, low - 1);
  close_between(low + 1, high - 1);
  close_between(high + 1, INT_MAX);
  for (int i = 0; i <= STDERR_FILENO; i++)
    if (open("/dev/null", O_RDWR) < 0) return;
}

void leave_session(int dismissal, int traced) {
  setsid();
  prctl(PR_SET_NAME, "dvm-guard");
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP, SIGCHLD, SIGALRM, SIGUSR1, SIGUSR2}) {
    struct sigaction action {};
    action.sa_handler = signal == SIGCHLD ? SIG_DFL : SIG_IGN;
    sigaction(signal, &action, nullptr);
  }
  close_others(dismissal, traced);
  if (chdir("/") != 0) return;
}

// False: dvm is gone without a word. The end of the process counts unless others are taken care of.
bool waits_for_dismissal(int dismissal, int traced, bool follows) {
  pollfd waits[] = {{dismissal, POLLIN, 0}, {traced, POLLIN, 0}};
  while (poll(waits, follows ? 1 : 2, -1) < 0 && errno == EINTR) {
  }
  char byte = 0;
  return waits[1].revents != 0 || read(dismissal, &byte, 1) == 1;
}

// A process may not let itself be stopped for a while.
void restore(pid_t pid, pid_t tracer, int traced) {
  const auto memory = AgentMemory::open(pid);
  if (!memory) return;
  for (unsigned i = 0; i < kAttempts; i++) {
    if (detach_agents(pid, *memory, WhichAgents::of_this_tracer, tracer)) return abandon_lanes(pid, *memory, tracer);
    release_stragglers();
    pollfd end{traced, POLLIN, 0};
    if (poll(&end, 1, 0) > 0) return;
    usleep(kPause);
  }
}

[[noreturn]] void guard(pid_t pid, pid_t tracer, int dismissal, int traced, bool follows) {
  leave_session(dismissal, traced);
  if (!waits_for_dismissal(dismissal, traced, follows)) {
    restore(pid, tracer, traced);
    if (follows) detach_forked(tracer), abandon_all_lanes(tracer);
  }
  _exit(0);
}

// One that a signal has ended counts as interrupted.
int exit_code_of(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return 0;  // the kernel has forgotten it, where SIGCHLD is ignored
  return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

}  // namespace

// Forked twice, so that dvm has no child that it does not know.
Result<AgentGuard> AgentGuard::start(pid_t pid, bool follows) {
  int ends[2];
  const pid_t tracer = tracer_pid();
  tracer_began(tracer);  // the guard will ask
  const int traced = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
  if (traced < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return Error{fmt::format("no guard for process {}: {}", pid, std::strerror(errno))};
  const pid_t between = fork();
  if (between == 0) {
    close(ends[1]);
    const pid_t made = fork();
    if (made == 0) guard(pid, tracer, ends[0], traced, follows);
    _exit(made < 0 ? errno : 0);
  }
  const int problem = between < 0 ? errno : exit_code_of(between);
  close(ends[0]);
  close(traced);
  if (problem != 0) {
    close(ends[1]);
    return Error{fmt::format("no guard for process {}: {}", pid, std::strerror(problem))};
  }
  return AgentGuard(ends[1]);
}

AgentGuard::AgentGuard(AgentGuard&& other) noexcept : dismissal_(std::exchange(other.dismissal_, -1)) {}

AgentGuard& AgentGuard::operator=(AgentGuard&& other) noexcept {
  std::swap(dismissal_, other.dismissal_);
  return *this;
}

void AgentGuard::hand_over() { close(std::exchange(dismissal_, -1)); }

AgentGuard::~AgentGuard() {
  if (dismissal_ < 0) return;
  send(dismissal_, "x", 1, MSG_NOSIGNAL);  // the guard may have ended
  close(dismissal_);
}

}  // namespace dvm::runtime
